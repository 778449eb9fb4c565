/** Recordings of real sessions next to the repository, for tests. They are never copied into it. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { importTranscript } from "../../transcripts/src/import/import-file.ts"
import type { ExternalFile, ImportedConversation } from "../../transcripts/src/import/importer.ts"
import { everyNth, size } from "./size.ts"

const DIRECTORY = new URL("../../../../shared/data/transcripts/", import.meta.url)

export const WHERE_THEY_ARE = "the recordings in ../shared/data/transcripts"

export function realTranscript(name: string): ExternalFile {
  return { name, text: readFileSync(new URL(name, DIRECTORY), "utf8") }
}

const imported = new Map<string, readonly ImportedConversation[]>()

/** The conversations of a recording, imported once per test run. */
export function importReal(name: string): readonly ImportedConversation[] {
  const conversations = imported.get(name) ?? importTranscript(realTranscript(name))
  imported.set(name, conversations)
  return conversations
}

const ALL_CLAUDE_CODE_FILES = [
  "claude-code-log/37f83ec9-sonnet4.jsonl",
  "claude-code-log/9e953218-sonnet45.jsonl",
  "claude-code-log/a7da6a22-deep-manifest.jsonl",
  "entireio-cli/43-2b48f6b6e6-0.jsonl",
  "entireio-cli/8e-a9e4a4e751-0.jsonl",
  "entireio-cli/98-78b713483d-0.jsonl",
  "entireio-cli/b6-f735fbac66-0.jsonl",
  "episodic-memory/large-conversation.jsonl",
  "episodic-memory/long-conversation.jsonl",
  "oh-my-posh/02-54bffa0c17-1.jsonl",
  "oh-my-posh/6d-449f3da816-0.jsonl",
]
export const CLAUDE_CODE_FILES = size(["claude-code-log/9e953218-sonnet45.jsonl"], ALL_CLAUDE_CODE_FILES)
export const CODEX_FILES = everyNth(["agentv-codex/0b-9f2ac6f3aa-1.jsonl", "agentv-codex/1f-4427577930-0.jsonl"], 2)
export const PI_FILES = everyNth(["pi-mono/large-session.jsonl", "pi-mono/before-compaction.jsonl"], 2)
export const SWE_AGENT_FILES = everyNth(["swe-agent/pydicom-1458.traj", "swe-agent/marshmallow-1867.traj"], 2)
export const OPENHANDS_FILES = ["openhands/multi_swe_bench_example_output.jsonl"]

const MORE = new URL("../../../../shared/data/more/", import.meta.url)

/** The recordings in one folder of `../shared/data/more`, by their paths in it. */
export function moreFiles(folder: string): readonly string[] {
  const directory = new URL(`${folder}/`, MORE)
  if (!existsSync(directory)) return []
  const names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"))
  return names.toSorted().map((name) => `${folder}/${name}`)
}

export function realMore(name: string): ExternalFile {
  return { name, text: readFileSync(new URL(name, MORE), "utf8") }
}
