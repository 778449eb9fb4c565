/** Memories for later conversations: the user's standing wishes, who they are, where things are. One file per sentence. */
import { hashText, headOf, type OfflineRequest, openToolbox, sentencesOf, toolRole } from "@strata/core/offline"
import type { ResponderRequest } from "../../responder.ts"
import type { ConversationFacts } from "./conversation-facts.ts"
import type { ExtractedAnswer } from "./notes.ts"

const NOTHING = "Nothing to remember."
const ABOUT_THE_USER = /\b(?:I am|I'm|I work|I use|my name is|my role)\b/i
const WHERE = /https?:\/\/\S+/
const MAX_LENGTH = 600 // characters; a longer "sentence" is pasted text
const MAX = 10
const KNOWN_BY = 30 // characters of a sentence that identify it in the index line of an existing memory
const FOLDER = /\S*\/\S*memor[^\s`"'<>(),:]*/i
const AS_TEXT = /^<memory file="/m
const EXISTING = /<existing_memories>([\s\S]*?)<\/existing_memories>/
const EARLIER_MESSAGES = /\n<said_earlier>\n([\s\S]*?)\n<\/said_earlier>/

export function writeMemories(given: {
  request: ResponderRequest
  demand: OfflineRequest
  known: ConversationFacts
}): ExtractedAnswer {
  const { request, demand, known } = given
  const { prompt, calls } = demand
  const existing = EXISTING.exec(prompt)?.[1] ?? ""
  const rules = new Set(known.standing)
  const files = [...earlierMessages(prompt), ...known.userMessages, ...known.standing]
    .flatMap((text) => (rules.has(text) ? [text] : sentencesOf(text)))
    .filter((words) => words.length <= MAX_LENGTH && !existing.includes(headOf(words, KNOWN_BY).trim()))
    .flatMap((words) => memoryOf(words, rules))
  const fresh = [...new Map(files.map((file) => [file.name, file])).values()].slice(-MAX)
  if (fresh.length === 0 || calls.some(({ name }) => toolRole(name) === "write")) return NOTHING
  if (AS_TEXT.test(prompt)) {
    return fresh.map(({ name, text }) => `<memory file="${name}">\n${text}\n</memory>`).join("\n\n")
  }
  const folder = (FOLDER.exec(prompt)?.[0] ?? "").replace(/\/MEMORY\.md$/, "").replace(/[./]+$/, "")
  const toolbox = openToolbox(request)
  const made = fresh.flatMap(
    ({ name, text }) => toolbox.call("write", { path: `${folder}/${name}`, content: text }) ?? [],
  )
  return made.length > 0 ? made : fresh.map(({ text }) => text).join("\n\n")
}

function memoryOf(words: string, rules: ReadonlySet<string>): readonly { name: string; text: string }[] {
  const type = rules.has(words) ? "feedback" : ABOUT_THE_USER.test(words) ? "user" : WHERE.test(words) && "reference"
  if (!type) return []
  const title = (words.toLowerCase().match(/[a-z0-9]+/g) ?? ["words"]).slice(0, 4).join("-")
  const name = `${type}-${title}-${hashText(words).toString(36).slice(0, 4)}`
  const head = [`name: ${name}`, `description: ${JSON.stringify(headOf(words, 100))}`, `type: ${type}`, "basis: said"]
  return [{ name: `${name}.md`, text: ["---", ...head, "---", "", words].join("\n") }]
}

/** User messages of other conversations that the prompt quotes, one per line. */
const earlierMessages = (prompt: string): readonly string[] =>
  [...(EARLIER_MESSAGES.exec(prompt)?.[1] ?? "").matchAll(/^- (".*")$/gm)].map(
    ([, text]) => JSON.parse(text!) as string,
  )
