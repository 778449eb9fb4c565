/** What a key does to the input line and its history. */
import { type Editor, edit, editorWith, insert, moveLine } from "./editor.ts"
import { type InputHistory, step } from "./input-history.ts"
import type { Intent } from "./keys.ts"
import { completeCommand } from "./slash-commands.ts"

export interface Input {
  readonly editor: Editor
  readonly history: InputHistory
}

export function editorAfter({ editor, history }: Input, intent: Intent): Input {
  switch (intent.type) {
    case "insert":
      return { editor: insert(editor, intent.text), history }
    case "newline":
      return { editor: insert(editor, "\n"), history }
    case "edit":
      return { editor: edit(editor, intent.edit), history }
    case "leave":
      return { editor: edit(editor, "delete"), history }
    case "up":
    case "down":
      return moved({ editor, history }, intent.type)
    case "complete": {
      const completed = completeCommand(editor.text)
      return { editor: completed === undefined ? editor : editorWith(completed), history }
    }
    default:
      return { editor, history }
  }
}

/** Moves within the input first, then through earlier inputs. */
function moved({ editor, history }: Input, direction: "up" | "down"): Input {
  const line = moveLine(editor, direction)
  if (line) return { editor: line, history }
  const earlier = step(history, { direction, text: editor.text })
  return earlier ? { editor: editorWith(earlier.text), history: earlier.history } : { editor, history }
}
