"""Commands: every module of this folder is one."""
