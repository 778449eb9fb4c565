/**
 * Extracts memories for later conversations from the user's messages: how they want to work, who they are, where things are. Each memory
 * is a file with frontmatter and a line in the index. A memory that is already in the index is not written again.
 */

import type { CooperativeTask } from "../../base/work.ts"
import { factsAboutTheUser, isAboutTheUser } from "../../views/record/about-the-user.ts"
import { isChangeOfTheUser } from "../../views/record/facts/fact-text.ts"
import { lastingRules } from "../../views/record/lasting-rules.ts"
import { statesLocation } from "../../views/record/states-location.ts"
import { splitSentences, typedLines } from "../../views/record/user-messages.ts"
import { hashText, headOf } from "./document.ts"
import type { Facts } from "./facts.ts"
import { readFileText } from "./file-text.ts"
import { quotedMessages } from "./fill.ts"
import type { NotesStep } from "./notes.ts"
import type { ReadRequest } from "./read-message.ts"
import type { OfflineRequest } from "./timeline.ts"
import { openToolbox, type PlannedCall, toolPath, toolRole } from "./toolbox.ts"

interface Memory {
  readonly file: string
  readonly type: "user" | "feedback" | "reference"
  readonly words: string
}

const INDEX = "MEMORY.md"
const MAX_MEMORIES = 20 // per extraction
const MAX_MEMORY = 600 // characters; a longer "sentence" is pasted text
const MAX_HOOK = 100 // characters of an index line's hook
const MAX_KNOWN = 30 // characters of a sentence that an index line always contains
const AS_TEXT = /^<memory file="/m // the text form in which the prompt requests the files

export function* keepMemories(given: {
  request: ReadRequest
  demand: OfflineRequest
  facts: Facts
}): CooperativeTask<NotesStep> {
  const { request, demand, facts } = given
  const memories = yield* findMemories(facts, demand.prompt)
  const folder = memoryFolder(demand.prompt)
  const toolbox = openToolbox(request)
  if (memories.length === 0) return { kind: "text", text: "Nothing to remember." }
  if (AS_TEXT.test(demand.prompt)) return { kind: "text", text: asText(memories, demand.prompt) }
  if (folder === undefined || !toolbox.offers("write")) {
    return { kind: "text", text: memories.map(({ type, words }) => `- ${type}: "${words}"`).join("\n") }
  }
  if (demand.calls.some((call) => toolRole(call.name) === "write")) return { kind: "text", text: "Memories are kept." }

  const indexPath = `${folder}/${INDEX}`
  const indexRead = demand.calls.findLast((call) => toolRole(call.name) === "read" && toolPath(call) === indexPath)
  const readIndex = toolbox.call("read", { path: indexPath })
  if (indexRead === undefined && readIndex !== undefined) return { kind: "call", calls: [readIndex] }

  const index = indexRead?.result?.failed === false ? (readFileText(indexRead.result.text)?.text ?? "") : ""
  const fresh = memories.filter(({ file }) => !index.includes(file))
  if (fresh.length === 0) return { kind: "text", text: "Nothing new to remember." }
  const lines = [index.trimEnd(), ...fresh.map(indexLine)].filter((line) => line !== "")
  const files = fresh.map((memory) =>
    toolbox.call("write", { path: `${folder}/${memory.file}`, content: render(memory) }),
  )
  const calls = [...files, toolbox.call("write", { path: indexPath, content: `${lines.join("\n")}\n` })]
  return { kind: "call", calls: calls.filter((call): call is PlannedCall => call !== undefined) }
}

/** Each file between tags. Files that the prompt already lists are omitted. */
function asText(memories: readonly Memory[], prompt: string): string {
  const fresh = memories.filter(({ file }) => !prompt.includes(file))
  if (fresh.length === 0) return "Nothing new to remember."
  return fresh.map((memory) => `<memory file="${memory.file}">\n${render(memory)}</memory>`).join("\n\n")
}

/** Sentences quoted in a summary or in the prompt are treated like messages in view. Sentences in the index are already stored. */
function* findMemories(facts: Facts, prompt: string): CooperativeTask<Memory[]> {
  const [, index = ""] = /<existing_memories>([\s\S]*?)<\/existing_memories>/.exec(prompt) ?? []
  const found = new Map<string, Memory["type"]>()
  for (const text of [...earlierUserMessages(prompt), ...quotedMessages(facts.earlier), ...facts.userMessages]) {
    for (const words of factsAboutTheUser(text)) found.set(words, "user")
    for (const words of lastingRules(text)) found.set(words, isAboutTheUser(words) ? "user" : "feedback")
    for (const words of splitSentences(typedLines(text).join("\n"))) {
      if (found.has(words)) continue
      if (isChangeOfTheUser(words)) found.set(words, "user")
      else if (statesLocation(words)) found.set(words, "reference")
    }
    yield
  }
  const isNew = (words: string) => words.length <= MAX_MEMORY && !index.includes(headOf(words, MAX_KNOWN))
  const memories = [...found].filter(([words]) => isNew(words))
  return memories.slice(-MAX_MEMORIES).map(([words, type]) => ({ type, words, file: `${type}-${slug(words)}.md` }))
}

/** User messages of other conversations, one per line, from the prompt's `said_earlier` section. */
function earlierUserMessages(prompt: string): readonly string[] {
  const [, block = ""] = /\n<said_earlier>\n([\s\S]*?)\n<\/said_earlier>/.exec(prompt) ?? []
  return [...block.matchAll(/^- (".*")$/gm)].map(([, text]) => JSON.parse(text!) as string)
}

/** A readable name, unique for sentences with the same first words. */
function slug(words: string): string {
  const start = (words.toLowerCase().match(/[a-z0-9]+/g) ?? []).slice(0, 4).join("-")
  return `${start || "words"}-${hashText(words).toString(36).slice(0, 4)}`
}

function indexLine({ file, words }: Memory): string {
  return `- [${file}](${file}): ${headOf(words, MAX_HOOK)}`
}

function render({ type, words, file }: Memory): string {
  const because = /\b(?:because|since|so that)\b(.*)$/i.exec(words)?.[0]
  const why = because === undefined ? "" : `\n**Why:** ${because}\n`
  const name = file.replace(/\.md$/, "")
  return `---\nname: ${name}\ndescription: ${JSON.stringify(headOf(words, MAX_HOOK))}\ntype: ${type}\n---\n\n${words}\n${why}`
}

function memoryFolder(prompt: string): string | undefined {
  const paths = prompt.match(/[^\s`"'<>()]*\/[^\s`"'<>(),:]*/g) ?? []
  const folder = paths.find((path) => /memor/i.test(path))
  return folder?.replace(/\/MEMORY\.md\b.*$/, "").replace(/[./]+$/, "")
}
