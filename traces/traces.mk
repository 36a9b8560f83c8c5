# traces/: files of this folder
