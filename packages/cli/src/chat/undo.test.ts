import { expect, test } from "vitest"
import { type Editor, EMPTY_EDITOR, edit, editorWith, insert } from "./editor.ts"
import { NO_CHANGES, recordChange, stepUndo, type UndoHistory } from "./undo.ts"

/** Types letter by letter, then undoes until nothing is left. */
function replay(changes: readonly ((editor: Editor) => Editor)[]) {
  let [editor, undo]: [Editor, UndoHistory] = [EMPTY_EDITOR, NO_CHANGES]
  for (const change of changes) {
    const after = change(editor)
    undo = recordChange(undo, { before: editor, after })
    editor = after
  }
  const texts: string[] = []
  for (let step = stepUndo(undo, { editor, direction: "undo" }); step; ) {
    texts.push(step.editor.text)
    ;({ editor, undo } = step)
    step = stepUndo(undo, { editor, direction: "undo" })
  }
  return { texts, editor, undo }
}
const typing = (text: string) => [...text].map((letter) => (editor: Editor) => insert(editor, letter))
const erase = (editor: Editor) => edit(editor, "backspace")

test("typed letters are taken back word by word, deletions and pastes as they were made", () => {
  expect(replay(typing("fix the test")).texts).toEqual(["fix the ", "fix ", ""])
  expect(replay([...typing("abc"), erase, erase]).texts).toEqual(["abc", ""])
  expect(replay([...typing("a"), (editor) => insert(editor, "many words\nat once")]).texts).toEqual(["a", ""])
  expect(replay([...typing("one two"), (editor) => edit(editor, "delete-word")]).texts).toEqual(["one two", "one ", ""])
})

test("a moved cursor begins another change", () => {
  const home = (editor: Editor) => edit(editor, "home")
  expect(replay([...typing("bc"), home, ...typing("a")]).texts).toEqual(["bc", ""])
})

test("what was taken back can be made again, until something else is typed", () => {
  const { editor, undo } = replay(typing("one two"))
  const again = stepUndo(undo, { editor, direction: "redo" })!
  expect(again.editor.text).toBe("one ")
  const other = recordChange(again.undo, { before: again.editor, after: editorWith("one x") })
  expect(stepUndo(other, { editor: editorWith("one x"), direction: "redo" })).toBeUndefined()
})
