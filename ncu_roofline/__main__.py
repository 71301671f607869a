"""``python -m ncu_roofline`` is the ``ncu-roofline`` program."""

from ncu_roofline.cli import main

if __name__ == "__main__":
    main(prog_name="ncu-roofline")
