# bench/: files of this folder
