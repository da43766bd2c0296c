from __future__ import annotations

from rankbench.build import missing

HEADER = """\
# 1 "mpi.h" 1
#define MPI_Aint_add(base, disp) MPI_Hidden(base)
typedef int (MPI_Handler_function)(int *, ...);
int MPI_Init(int *argc, char ***argv) __attribute__((visibility("default")));
extern __attribute__((visibility ("default"))) int MPI_Allreduce (const void *sendbuf,
    void *recvbuf);
typedef struct MPI_Status MPI_Status;
"""


def test_only_functions_of_the_header_are_declared() -> None:
    assert missing.find_declared(HEADER) == {"MPI_Init", "MPI_Allreduce"}


def test_only_calls_outside_comments_and_strings_are_used() -> None:
    source = """
    /* MPI_Comment(x) and
       MPI_Comment2(x) */
    // MPI_Comment3(x)
    MPI_Comm comm; printf("MPI_Text(\\"x\\")");
    if (MPI_Allreduce(a, b) == MPI_SUCCESS) return MPI_Bcast(b);
    """
    assert missing.find_used([source, "MPI_Init(0, 0);"]) == {"MPI_Allreduce", "MPI_Bcast", "MPI_Init"}


def test_calls_in_all_forms_are_used() -> None:
    source = "ALL_FORMS(_v, MPI_Gatherv, MPI_Igatherv,\n          MPI_Gatherv_init, call->comm, MPI_COMM_NULL)"
    assert missing.find_used([source]) == {"MPI_Gatherv", "MPI_Igatherv", "MPI_Gatherv_init"}


def test_names_are_all_mpi_identifiers_in_code() -> None:
    source = """
    /* MPI_Comment */ MPI_Session session = MPI_SESSION_NULL; // MPI_COMMENT
    printf("MPI_TEXT"); MPI_Bcast(0); MPIX_Other(PMPI_Init, XMPI_X);
    """
    assert missing.find_names([source, HEADER]) == {
        *("MPI_Session", "MPI_SESSION_NULL", "MPI_Bcast"),
        *("MPI_Aint_add", "MPI_Hidden", "MPI_Handler_function", "MPI_Init", "MPI_Allreduce", "MPI_Status"),
    }


def test_the_header_replaces_each_missing_call_by_an_error_with_its_name() -> None:
    lines = missing.render_header(["MPI_B", "MPI_A"]).splitlines()
    assert lines[-2:] == [
        '#define MPI_A(...) missing_call("MPI_A", __VA_ARGS__)',
        '#define MPI_B(...) missing_call("MPI_B", __VA_ARGS__)',
    ]


def test_the_header_defines_missing_types_as_int_and_missing_constants_as_0() -> None:
    lines = missing.render_header(["MPI_A"], ["MPI_Session", "MPI_MESSAGE_NULL", "MPI_X2"]).splitlines()
    assert lines[-4:] == [
        '#define MPI_A(...) missing_call("MPI_A", __VA_ARGS__)',
        "#define MPI_MESSAGE_NULL 0",
        "#define MPI_Session int",
        "#define MPI_X2 0",
    ]
