/* What configure would find for WebAssembly. The version comes from the make that is native. */
#define SYSTEMC_VERSION "none: one loop and fibres"
