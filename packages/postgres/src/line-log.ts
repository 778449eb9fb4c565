/** Lines that are only ever added to, on the server. They are read in pieces. */
import { randomUUID } from "node:crypto"
import type { LineLog, LogAddress } from "@strata/core/store"
import type { Database } from "./database.ts"
import { checkedProject } from "./names.ts"
import { MAX_BYTES } from "./read-lines.ts"

interface PieceRow {
  readonly lines: Buffer | null
  readonly last: number | null
}

export interface LogParts {
  readonly database: Database
  readonly tenant: string
  readonly address: LogAddress
}

export function postgresLog({ database, tenant, address }: LogParts): LineLog {
  const key = [tenant, checkedProject(address.project), address.name]
  return {
    async read() {
      const found: string[] = []
      // by the number of the last line: one that is committed late, before others, would shift offsets
      for (let after = 0; ; ) {
        const { lines, last } = await database.row<PieceRow>("log_read", ...key, after, 0, MAX_BYTES)
        if (lines === null) return found
        for (const line of lines.toString("utf8", 0, lines.length - 1).split("\n")) found.push(line)
        if (lines.length < MAX_BYTES) return found
        after = last!
      }
    },
    async append(line) {
      const [, ...place] = key
      await database.rows("log_append", tenant, randomUUID(), ...place, Buffer.from(line.toWellFormed()))
    },
  }
}

/** Whole lines from an offset on. Nothing: it is the end. */
export async function logLines({ database, tenant, address }: LogParts, from: number): Promise<Buffer> {
  const key = [tenant, checkedProject(address.project), address.name]
  const { lines } = await database.row<PieceRow>("log_read", ...key, 0, from, MAX_BYTES)
  return lines ?? Buffer.alloc(0)
}
