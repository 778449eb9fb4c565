/** Consolidates memories: reads those that the prompt lists. If two have the same text, the one listed first replaces the other. */
import {
  listCalls,
  openToolbox,
  readFileText,
  readTimeline,
  type ToolCall,
  textsOfKind,
  toolPath,
  toolRole,
} from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { ExtractedAnswer } from "./notes.ts"

const DEMAND = /^Consolidate the memory directory (\S+?)\. /
const LISTED = /^- ([^\s/]+\.md) \(/gm // the newest first
const REPLACED = /^superseded-by:/m
const NOTHING = "Nothing to consolidate."

/** Returns `undefined` if the request asks for something else. */
export function dream(request: ResponderRequest): ExtractedAnswer | undefined {
  const moments = readTimeline(request.messages)
  const prompt = textsOfKind(moments, "human")[0] ?? ""
  const directory = DEMAND.exec(prompt)?.[1]
  if (directory === undefined) return undefined
  const toolbox = openToolbox(request)
  const calls = listCalls(moments)
  const texts = new Map(
    calls.filter(({ name }) => toolRole(name) === "read").map((call) => [toolPath(call), textIn(call)]),
  )
  const paths = [...prompt.matchAll(LISTED)].map(([, file]) => `${directory}/${file}`)
  const unread = paths.filter((path) => !texts.has(path)).flatMap((path) => toolbox.call("read", { path }) ?? [])
  if (unread.length > 0) return unread
  if (calls.some(({ name }) => toolRole(name) === "write")) return "Done."

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
