/** The notes functions of a journal, stored in a file. */
import { readNotesFile, writeNotesFile } from "../src/journal/file/small-files.ts"
import type { NotesJournal } from "../src/layers/3-session-memory/notes.ts"

export const notesAt = (path: string): NotesJournal => ({
  ...{ location: path, notesPath: path },
  readNotes: () => readNotesFile(path),
  writeNotes: (text, expected) => writeNotesFile({ path, text, expected, number: 1, check: () => undefined }),
})
