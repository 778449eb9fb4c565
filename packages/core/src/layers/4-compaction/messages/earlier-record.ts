/**
 * Reads the record of an earlier call from its text, for a caller without `state`. Only the first message of a list can contain it. Its
 * quotes of the user are second-hand, so they count as imported.
 */
import { uuidFrom } from "../../../base/clock.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Message } from "../../../messages/messages.ts"
import { findStatedValue } from "../../../views/record/replaced-values.ts"
import { statements as statementsView } from "../../../views/record/statements.ts"
import { standingRules } from "../../../views/record/user-messages.ts"
import type { RecordViews } from "../restore/facts.ts"

const SECTION = /^## (.+)$|^(The (?:user|assistant) said):$/
const FENCE = /^`{3,}$/
const BULLET = /^- (.*)$/
const HANDLE_BEFORE = /^\[[0-9a-f]{10}(?:\.\d+)?\](?: \(its beginning\))? ?/
const HANDLE_AFTER = / \[[0-9a-f]{10}(?:\.\d+)?\]$/
const WAS = / \(was ([^()]+)\)$/
const NAMES = /^(said|typed|in results): (.*)$/
const BY_USER = new Set(["Standing rules", "What the user said", "Also said by the user", "The user said"])
const SHORT = new Set(["The user said", "The assistant said"]) // lists without bullets
const KINDS = { Decisions: "decision", Open: "open", Findings: "finding", "The assistant said": "finding" } as const

const LONG = /\s*<system-reminder>\s*A record of what was said and done(?:[\s\S]*<\/system-reminder>|[\s\S]*)/
const SHORT_BEGIN = /^The (?:user|assistant) said:$/m

/** The summary without the record, which is computed again. */
export const withoutRecord = (text: string): string => withoutShortRecord(text.replace(LONG, ""))

/** Removes a short record, which is at the end and has no empty line. A list inside the summary, with more text after it, stays. */
function withoutShortRecord(text: string): string {
  const whole = text.trimEnd()
  const last = whole.lastIndexOf("\n\n") + 1
  const at = whole.slice(last).search(SHORT_BEGIN)
  return at < 0 ? whole : whole.slice(0, last + at).trimEnd()
}

/** Escapes a summary so that a later call does not mistake a part of it for the record. */
export const notLikeRecord = (summary: string): string =>
  summary.replace(/<(?=\s*\/?\s*system-reminder)/gi, "&lt;").replace(/^(?=The (?:user|assistant) said:$)/gm, "- ")

const LONG_BEGIN = "<system-reminder>\nA record of what was said and done"
const LONG_END = "\n</system-reminder>"
const SHORT_USER = "\nThe user said:\n"

/** The record in a text. It comes last, and nothing in it can look like its beginning; the summary before it may contain anything. */
function recordIn(text: string): string {
  const at = text.lastIndexOf(LONG_BEGIN)
  if (at < 0) return text.slice(Math.max(0, text.lastIndexOf(SHORT_USER)))
  const end = text.lastIndexOf(LONG_END)
  return text.slice(at, end < at ? undefined : end)
}

export function addEarlierRecord({ words, statements, names }: RecordViews, text: string): void {
  let section = ""
  let fence: string[] | undefined
  let opened = ""
  let heading = ""
  const addUserText = (given: string) => {
    const own = SHORT.has(section) ? given : given.replace(HANDLE_BEFORE, "").replace(HANDLE_AFTER, "")
    const plain = unquoted(own)
    if (plain.trim() === "" || words.messages.some((known) => known.text === plain)) return
    const uuid = uuidFrom(`earlier:${plain}`)
    words.messages.push({ uuid, timestamp: "", text: plain, isImported: true, rules: standingRules(plain) })
    // so that a later value can replace an earlier one
    const message = { role: "user", content: plain } as const
    statementsView.apply(statements, { type: "user", uuid, parentUuid: null, timestamp: "", message } as Message, true)
  }
  const stated = (given: string) => {
    const without = given.replace(HANDLE_AFTER, "")
    const was = WAS.exec(without)?.[1]
    const plain = unquoted(without.replace(WAS, ""))
    const kind = KINDS[section as keyof typeof KINDS]
    const weight = findStatedValue(plain) ? 3 : 2
    const statement = { uuid: uuidFrom(`earlier:${plain}`), by: "assistant", kind, weight } as const
    statements.current.set(plain, was === undefined ? statement : { ...statement, was })
  }
  for (const line of recordIn(text).split("\n")) {
    if (fence === undefined) {
      const found = SECTION.exec(line)
      if (found) section = found[1] ?? found[2]!
      else if (FENCE.test(line)) {
        fence = []
        opened = line
      } else if (HANDLE_BEFORE.test(line) && !SHORT.has(section)) heading = line
      else if (BULLET.test(line) || SHORT.has(section)) {
        const item = SHORT.has(section) ? line : BULLET.exec(line)![1]!
        if (BY_USER.has(section)) addUserText(item)
        else if (section in KINDS && item !== "") stated(item)
      }
      continue
    }
    if (line !== opened) {
      fence.push(line)
      continue
    }
    if (BY_USER.has(section)) {
      if (heading === "") for (const each of fence) addUserText(each)
      else addUserText(fence.join("\n"))
    }
    if (section === "Exact names")
      for (const each of fence) {
        const [, kind = "", list = ""] = NAMES.exec(each) ?? []
        const to = kind === "said" ? names.said : kind === "typed" ? names.typed : names.seen
        const by = kind === "said" ? "assistant" : kind === "typed" ? "input" : "result"
        const at = handleOf(uuidFrom("earlier"))
        for (const { name } of exactNamesIn(list)) if (!to.has(name)) to.set(name, { by, at, uses: 1 })
      }
    fence = undefined
    heading = ""
  }
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text
  }
}
