/** Imports a transcript of another program: recognises its format and reads it, or says why it cannot. */
import { ImportError } from "../base/errors.ts"
import { repairsOf, usable } from "../messages/usable.ts"
import { claudeCode } from "./claude-code/claude-code.ts"
import { codex } from "./codex/codex.ts"
import { copilot } from "./copilot/copilot.ts"
import { firstFields, parseFields, withoutByteOrderMark } from "./foreign-json.ts"
import { foreignThinkingDropped } from "./foreign-thinking.ts"
import { gemini } from "./gemini.ts"
import type { ForeignFile, ImportedConversation, Importer } from "./importer.ts"
import { openCode } from "./opencode.ts"
import { openHands } from "./openhands.ts"
import { pi } from "./pi.ts"
import { sweAgent } from "./swe-agent/swe-agent.ts"

const IMPORTERS: readonly Importer[] = [claudeCode, codex, pi, openHands, openCode, sweAgent, copilot, gemini]

const SHOWN_CHARACTERS = 60
const SHOWN_FIELDS = 8

/** The conversations in a file: one in most formats, one per task in OpenHands files. */
export function importTranscript(file: ForeignFile): readonly ImportedConversation[] {
  const importer = IMPORTERS.find((candidate) => candidate.recognises(file))
  if (!importer) {
    const formats = IMPORTERS.map(({ format }) => format).join(", ")
    throw new ImportError(
      `${file.name} was not imported: ${whatIsIn(file.text)}. Nothing was written. Supported formats: ${formats}.`,
    )
  }
  return importer.read(file).map(foreignThinkingDropped).map(withSetAside)
}

/** Counts what views will set aside, so that an import says so before the first request does. */
function withSetAside(conversation: ImportedConversation): ImportedConversation {
  const setAside: Record<string, number> = {}
  for (const { rule } of conversation.messages.flatMap((message) => repairsOf(usable(message)))) {
    setAside[rule] = (setAside[rule] ?? 0) + 1
  }
  const counted = Object.entries(setAside).map(([rule, count]) => `${rule} ${count}`)
  if (counted.length === 0) return conversation
  const note = `some pieces cannot be sent as they are; requests leave them out or repair them: ${counted.join(", ")}`
  const { report } = conversation
  return { ...conversation, report: { ...report, setAside, notes: [...report.notes, note] } }
}

function whatIsIn(text: string): string {
  const content = withoutByteOrderMark(text).trim()
  if (content === "") return "it is empty"
  if (content.includes("\0")) return "it is a binary file"
  const first = firstFields(content, 1)[0] ?? parseFields(content)
  if (!first)
    return `it does not begin with a JSON object but with ${JSON.stringify(content.slice(0, SHOWN_CHARACTERS))}`
  const names = Object.keys(first).map((name) => name.slice(0, SHOWN_CHARACTERS))
  const shown = names.slice(0, SHOWN_FIELDS).join(", ")
  return `its format is not known; it begins with a JSON object with the fields ${shown || "(none)"}${names.length > SHOWN_FIELDS ? ", …" : ""}`
}
