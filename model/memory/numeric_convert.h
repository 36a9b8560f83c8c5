/* Conversions of whole arrays between f32 and the 8- and 16-bit floats: numeric.c's inner loops. */
#ifndef MODEL_MEMORY_NUMERIC_CONVERT_H
#define MODEL_MEMORY_NUMERIC_CONVERT_H

#include <glib.h>

/* `from` and `to` of the 16-bit side need no alignment. */
void convert_from_f16(float *to, const void *from, gsize n);
void convert_from_bf16(float *to, const void *from, gsize n);
void convert_from_e4m3(float *to, const void *from, gsize n);
void convert_from_e5m2(float *to, const void *from, gsize n);
void convert_to_e4m3(void *to, const float *from, gsize n);
void convert_to_e5m2(void *to, const float *from, gsize n);
void convert_to_f16(void *to, const float *from, gsize n);
void convert_to_bf16(void *to, const float *from, gsize n);
/* Copies that make every NaN the canonical one. */
void convert_canonical_f32(void *to, const float *from, gsize n);
void convert_canonical_f64(void *to, const double *from, gsize n);

#endif
