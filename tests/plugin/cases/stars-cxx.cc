#include "stars.c"
