"""Drop-in replacements for other packages: a script needs only a changed import line.

>>> from farfield.compat.fmm3dpy import lfmm3d  # instead of: from fmm3dpy import lfmm3d
"""
