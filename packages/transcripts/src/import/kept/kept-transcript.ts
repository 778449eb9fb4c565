/** A kept session read like any transcript, from its record: its text, and those of its sub-agents. */
import { basename, dirname, join } from "node:path"
import { ImportError } from "@strata/core/base"
import type { ExternalFile } from "../importer.ts"
import { unpacked } from "./packed-file.ts"
import { Pieces } from "./pieces.ts"
import { type KeptFile, recordIn } from "./record.ts"

const AGENT = /^agent-.*\.(?:jsonl|meta\.json)$/

/** Nothing if the bytes of a file are no record of a kept session. */
export async function keptTranscript(file: string, bytes: Buffer): Promise<ExternalFile | undefined> {
  if (basename(dirname(file)) !== "sessions" || basename(dirname(dirname(file))) !== "kept") return undefined
  const record = recordIn(bytes)
  if (!record) throw new ImportError(`The record ${file} is damaged. Run "strata archive check".`)
  const pieces = new Pieces(join(dirname(dirname(file)), "pieces"))
  const [transcript, ...others] = record.files
  const companions: ExternalFile[] = []
  for (const each of others.filter(({ name }) => AGENT.test(basename(name))))
    companions.push({ name: basename(each.name), text: await textOf(each, pieces) })
  return { name: basename(record.path), text: await textOf(transcript, pieces), companions }
}

async function textOf(file: KeptFile, pieces: Pieces): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of unpacked(file, pieces)) parts.push(part)
  return Buffer.concat(parts).toString("utf8")
}
