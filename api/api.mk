# api/: files of this folder
