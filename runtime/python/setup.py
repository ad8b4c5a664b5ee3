"""The wheel: any Python 3, this platform's runtime library. `./dev wheel` copies
the library into the package and says the version."""

import os

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=os.environ["MLC_VERSION"], cmdclass={"bdist_wheel": Wheel})
