"""The pages that a newcomer pastes into a shell, block by block."""

from pathlib import Path

from tests.docs.pasting import ADDRESS, find_port, make_folder, paste, read_blocks, running


def test_the_first_document_ends_at_active(tmp_path: Path) -> None:
    folder, blocks = make_folder(tmp_path), read_blocks("first_document.md")
    with running(folder, {}) as address:
        said = paste(blocks, folder, {ADDRESS: address})
    assert said[-1].endswith("active\n")
    assert '"status":"active"' in "".join(said)


def test_a_workflow_of_ones_own_calls_a_receiver_once(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    words, *_ = read_blocks("first_document.md")
    blocks = [words, *read_blocks("own_workflow.md")]
    leave = {
        "SIGNET_SECRETS_FOLDER": str(folder / ".signet" / "secrets"),
        "SIGNET_WEBHOOK_ADDRESSES": "127.0.0.1",
    }
    with running(folder, leave) as address:
        said = paste(blocks, folder, {ADDRESS: address, "8701": str(find_port())})
    assert '"receipt":"paid-S-1"' in "".join(said)
