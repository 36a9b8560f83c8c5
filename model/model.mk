# model/: the hardware, in the order a packet meets it.
