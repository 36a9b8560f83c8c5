# examples/: files of this folder

# Built only when asked for: make examples/tlm_dma
EXTRA_PROGRAMS += examples/tlm_dma
examples_tlm_dma_SOURCES = examples/tlm_dma.cpp
examples_tlm_dma_LDADD = libfanout_core.la
CLEANFILES += examples/tlm_dma
