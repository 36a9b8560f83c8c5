# tests/: CMocka programs, one per file under test.
TESTS += $(check_PROGRAMS)
TEST_LDADD = libfanout_core.la $(CMOCKA_LIBS)
