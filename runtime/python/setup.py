"""The wheel: any Python 3, this platform's runtime library. `./dev wheel` copies
the library into the package and says the version."""

import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    """Belongs to a platform, though nothing in it is compiled by setuptools."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=os.environ["MLC_VERSION"], distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel})
