// A shared library without PJRT's entry point.
int pax_not_a_plugin(void) { return 0; }
