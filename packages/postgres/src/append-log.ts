/** An append-only log on the server, read in chunks. */
import { randomUUID } from "node:crypto"
import type { AppendLog, LogAddress } from "@strata/core/store"
import type { Database } from "./database.ts"
import { validateProject } from "./names.ts"
import { MAX_BYTES } from "./read-lines.ts"

interface ChunkRow {
  readonly lines: Buffer | null
  readonly last: number | null
}

export interface PostgresLogOptions {
  readonly database: Database
  readonly tenant: string
  readonly address: LogAddress
}

export function postgresLog({ database, tenant, address }: PostgresLogOptions): AppendLog {
  const key = [tenant, validateProject(address.project), address.name]
  return {
    async read() {
      const found: string[] = []
      // by the number of the last line: an offset would shift if a line commits after later ones
      for (let after = 0; ; ) {
        const { lines, last } = await database.row<ChunkRow>("log_read", ...key, after, 0, MAX_BYTES)
        if (lines === null) return found
        for (const line of lines.toString("utf8", 0, lines.length - 1).split("\n")) found.push(line)
        if (lines.length < MAX_BYTES) return found
        after = last!
      }
    },
    async append(line) {
      const [, ...logKey] = key
      await database.rows("log_append", tenant, randomUUID(), ...logKey, Buffer.from(line.toWellFormed()))
    },
  }
}

/** Complete lines from an offset on. Empty at the end. */
export async function readLogLines({ database, tenant, address }: PostgresLogOptions, from: number): Promise<Buffer> {
  const key = [tenant, validateProject(address.project), address.name]
  const { lines } = await database.row<ChunkRow>("log_read", ...key, 0, from, MAX_BYTES)
  return lines ?? Buffer.alloc(0)
}
