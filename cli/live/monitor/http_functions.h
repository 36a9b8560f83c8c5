/* What server.c uses of libmicrohttpd, for a macro HTTP_FUNCTION(name of MHD_name). Included
 * several times, hence no guard. */
HTTP_FUNCTION(add_response_header)
HTTP_FUNCTION(create_response_from_buffer)
HTTP_FUNCTION(destroy_response)
HTTP_FUNCTION(lookup_connection_value)
HTTP_FUNCTION(queue_response)
HTTP_FUNCTION(start_daemon)
HTTP_FUNCTION(stop_daemon)
