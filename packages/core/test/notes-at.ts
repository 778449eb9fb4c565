/** The part of a journal that keeps notes, on a file. */
import { readNotesFile, writeNotesFile } from "../src/journal/file/notes-file.ts"
import type { NotesJournal } from "../src/layers/3-session-memory/kept-notes.ts"

export const notesAt = (path: string): NotesJournal => ({
  ...{ location: path, notesPath: path },
  readNotes: () => readNotesFile(path),
  writeNotes: (text, expected) => writeNotesFile({ path, text, expected, number: 1, check: () => undefined }),
})
