/** Keys while a menu is open, or while earlier inputs are searched. They come before everything else that a key does. */
import { completed, type Menu, withSelected } from "./completion.ts"
import { foundInput, type HistorySearch, nextMatch, withQuery } from "./history-search.ts"
import type { KeyTarget } from "./key-target.ts"
import type { Intent } from "./keys.ts"

/** Returns whether the key was for the menu. */
export function pressInMenu(chat: KeyTarget, menu: Menu, intent: Intent): boolean {
  const { store } = chat
  const { editor, completion } = store.snapshot()
  const done = completed(editor, menu)
  switch (intent.type) {
    case "up":
    case "down":
      store.dispatch({
        type: "completion",
        change: withSelected(completion, menu, intent.type === "up" ? -1 : 1),
      })
      return true
    case "complete":
      store.dispatch({ type: "edited", editor: done })
      return true
    case "escape":
    case "cancel":
      store.dispatch({ type: "completion", change: { closed: menu.trigger.from } })
      return true
    case "submit":
      if (intent.text !== undefined) return false // sent with the text it came with: no one saw a menu for it
      if (menu.trigger.kind === "command") chat.submit(done.text.trimEnd())
      else store.dispatch({ type: "edited", editor: done })
      return true
    default:
      return false
  }
}

/** Returns whether the key was for the search. Any other key ends it, keeps what it found, and does what it always does. */
export function pressInSearch(chat: KeyTarget, search: HistorySearch, intent: Intent): boolean {
  const { store } = chat
  const { inputs } = store.snapshot().history
  const goOn = (next: HistorySearch) => store.dispatch({ type: "searching", search: next })
  const end = (found = search) => store.dispatch({ type: "searched", editor: foundInput(found, inputs) })
  switch (intent.type) {
    case "search":
    case "up":
      goOn(nextMatch(search, { inputs, direction: "older" }))
      return true
    case "down":
      goOn(nextMatch(search, { inputs, direction: "newer" }))
      return true
    case "insert":
      goOn(withQuery(search, search.query + intent.text, inputs))
      return true
    case "edit":
      if (intent.edit !== "backspace") break
      goOn(withQuery(search, [...search.query].slice(0, -1).join(""), inputs))
      return true
    case "escape":
    case "cancel":
    case "interrupt":
      store.dispatch({ type: "searched", editor: search.before })
      return true
    case "submit":
      end(intent.text === undefined ? search : withQuery(search, search.query + intent.text, inputs))
      return true
    case "complete":
      end()
      return true
  }
  end()
  return false
}
