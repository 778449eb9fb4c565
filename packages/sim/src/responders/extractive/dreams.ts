/** Consolidates memories: reads those that the prompt lists. Of two with the same text, the one listed first replaces the other. */
import {
  callsOf,
  openToolbox,
  pathOf,
  readFileText,
  readTimeline,
  roleOf,
  type ToolCall,
  wordsOf,
} from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { Said } from "./notes.ts"

const DEMAND = /^Consolidate the memory directory (\S+?)\. /
const LISTED = /^- ([^\s/]+\.md) \(/gm // the newest first
const REPLACED = /^superseded-by:/m
const NOTHING = "Nothing to consolidate."

/** Returns `undefined` if the request asks for something else. */
export function dream(request: ResponderRequest): Said | undefined {
  const moments = readTimeline(request.messages)
  const prompt = wordsOf(moments, "human")[0] ?? ""
  const directory = DEMAND.exec(prompt)?.[1]
  if (directory === undefined) return undefined
  const toolbox = openToolbox(request)
  const calls = callsOf(moments)
  const texts = new Map(calls.filter(({ name }) => roleOf(name) === "read").map((call) => [pathOf(call), textIn(call)]))
  const paths = [...prompt.matchAll(LISTED)].map(([, file]) => `${directory}/${file}`)
  const unread = paths.filter((path) => !texts.has(path)).flatMap((path) => toolbox.call("read", { path }) ?? [])
  if (unread.length > 0) return unread
  if (calls.some(({ name }) => roleOf(name) === "write")) return "Done."

  const current = paths.filter((path) => texts.get(path) && !REPLACED.test(texts.get(path)!))
  const groups = Map.groupBy(current, (path) => bodyOf(texts.get(path)!))
  const made = [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return []
    const names = others.map((path) => path.split("/").at(-1))
    const content = texts.get(first)!.replace("\n---\n", `\nsupersedes: [${names.join(", ")}]\n---\n`)
    return toolbox.call("write", { path: first, content }) ?? []
  })
  return made.length > 0 ? made : NOTHING
}

const textIn = ({ result }: ToolCall): string => (result ? (readFileText(result.text)?.text ?? "") : "")
const bodyOf = (text: string): string =>
  text
    .slice(text.indexOf("\n---\n") + 5)
    .trim()
    .toLowerCase()
