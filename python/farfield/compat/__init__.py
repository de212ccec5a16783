"""Drop-in replacements for other packages: one changed import line moves a script.

>>> from farfield.compat.fmm3dpy import lfmm3d  # instead of: from fmm3dpy import lfmm3d
"""
