# examples/: files of this folder
