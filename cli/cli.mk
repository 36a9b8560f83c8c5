# cli/: files of this folder
