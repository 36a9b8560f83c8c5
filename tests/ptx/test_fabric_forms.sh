#!/bin/sh
# Proves that fanout takes and refuses those forms of fabric.*, of its fences and of mbarriers that report that ptxas of
# CUDA 13.5 takes and refuses: 1,200 drawn forms whose verdicts are recorded and, where that ptxas is installed
# (FANOUT_PTXAS, or on the path), 200 others, of which it is asked now.
forms=$TOP_SRCDIR/tests/ptx/fabric_forms
python3 "$forms.py" check "$FANOUT" "$forms.txt" || exit 1
ptxas=${FANOUT_PTXAS:-$(command -v ptxas)}
case $("${ptxas:-false}" --version 2>/dev/null) in
*'release 13.5'*) python3 "$forms.py" ask "$FANOUT" "$ptxas" "${FANOUT_SEED:-2}" || exit 1 ;;
*) echo "no ptxas of CUDA 13.5 here: the recorded verdicts alone were compared" ;;
esac
