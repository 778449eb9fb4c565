/** Reads an archived session like a transcript, from its manifest: its text, and the texts of its sub-agents. */
import { basename, dirname, join } from "node:path"
import { ImportError } from "@strata/core/base"
import type { ExternalFile } from "../importer.ts"
import { ChunkStore } from "./chunks.ts"
import { type ArchivedFile, parseManifest } from "./manifest.ts"
import { readArchivedFile } from "./packed-file.ts"

const AGENT = /^agent-.*\.(?:jsonl|meta\.json)$/

/** Undefined if the file is not the manifest of an archived session. */
export async function readArchivedTranscript(file: string, bytes: Buffer): Promise<ExternalFile | undefined> {
  if (basename(dirname(file)) !== "sessions" || basename(dirname(dirname(file))) !== "kept") return undefined
  const record = parseManifest(bytes)
  if (!record) throw new ImportError(`The manifest ${file} is damaged. Run "strata archive check".`)
  const pieces = new ChunkStore(join(dirname(dirname(file)), "pieces"))
  const [transcript, ...others] = record.files
  const companions: ExternalFile[] = []
  for (const each of others.filter(({ name }) => AGENT.test(basename(name))))
    companions.push({ name: basename(each.name), text: await textOf(each, pieces) })
  return { name: basename(record.path), text: await textOf(transcript, pieces), companions }
}

async function textOf(file: ArchivedFile, pieces: ChunkStore): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of readArchivedFile(file, pieces)) parts.push(part)
  return Buffer.concat(parts).toString("utf8")
}
