#!/bin/sh
# The first result: demo.sh FANOUT
set -eu
fanout=$1
"$fanout" --version
