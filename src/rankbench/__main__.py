"""The program, also as `python -m rankbench`."""

import signal


def main() -> None:
    """Run a command. While modules are imported, Ctrl-C ends the program silently; later it raises as usual."""
    handler = signal.getsignal(signal.SIGINT)
    if handler == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from rankbench import cli

    signal.signal(signal.SIGINT, handler)
    cli.main()


if __name__ == "__main__":
    main()
