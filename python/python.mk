# python/: the package fanout-sim. `make wheel` needs patchelf; nothing else here needs more than python3.
python_files = \
	python/fanout/__init__.py \
	python/fanout/command.py \
	python/fanout/distributed.py \
	python/fanout/errors.py \
	python/fanout/places.py \
	python/fanout/py.typed \
	python/fanout/ranks.py \
	python/fanout/rows.py \
	python/fanout/simulator.py \
	python/fanout/system.py \
	python/fanout/torch_autoload.py \
	python/fanout/torch_work.py \
	python/fanout/trace.py \
	python/fanout/tuner.py
EXTRA_DIST += $(python_files) python/README.md python/wheel.py

# The wheel, from a tree of its own, so that nothing of the install is left: ./fanout_sim-*.whl
.PHONY: wheel
wheel: all
	@rm -rf wheel-stage && $(MAKE) $(AM_MAKEFLAGS) -s install DESTDIR=$(abs_builddir)/wheel-stage >wheel.log 2>&1 || \
	  { tail -n 20 wheel.log; exit 1; }
	@rm -f fanout_sim-*.whl && python3 $(srcdir)/python/wheel.py $(abs_builddir)/wheel-stage '$(prefix)' $(srcdir) . && \
	  rm -rf wheel-stage wheel.log
CLEANFILES += fanout_sim-*.whl
