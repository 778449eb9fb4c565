/** A home directory with Claude Code transcripts, for tests of reports. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

export interface SessionOptions {
  readonly id: string
  readonly cwd?: string
  readonly title?: string
  /** Number of answers. */
  readonly turns?: number
  /** The day of the first message. */
  readonly day?: string
  readonly model?: string
  /** Session whose response ids are used, because a fork repeats those of its parent. Default: the session itself. */
  readonly responsesOf?: string
  /** First answer with its own ids. */
  readonly ownFrom?: number
  readonly asks?: string
  readonly answers?: string
  readonly result?: string
  /** A cache miss before this answer, after ten minutes. */
  readonly lostAt?: number
  /** A compaction before this answer. */
  readonly compactedAt?: number
}

/** A transcript as Claude Code writes it: a question, then calls of Read with their results. */
export function session(options: SessionOptions): string {
  const { id, cwd = "/work/app", turns = 4, day = "2026-01-05", model = "claude-opus-4-6" } = options
  const lines: object[] = []
  let [parent, at, count]: [string | null, number, number] = [null, Date.parse(`${day}T09:00:00Z`), 0]
  const add = (line: object) => {
    const uuid = `${id}-${++count}`
    const place = {
      uuid,
      parentUuid: parent,
      sessionId: id,
      timestamp: new Date(at).toISOString(),
      cwd,
      version: "2.1.200",
    }
    lines.push({ ...place, isSidechain: false, ...line })
    parent = uuid
    at += 5_000
  }
  if (options.title !== undefined) lines.push({ type: "ai-title", aiTitle: options.title, sessionId: id })
  add({ type: "user", message: { role: "user", content: options.asks ?? "Fix the parser." } })
  for (let turn = 1; turn <= turns; turn++) {
    const isLost = turn === options.lostAt
    if (isLost) at += 10 * 60_000
    if (turn === options.compactedAt) {
      add({
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        compactMetadata: { trigger: "auto", preTokens: 50_000 },
      })
      add({
        type: "user",
        isCompactSummary: true,
        message: { role: "user", content: "This session is being continued. The parser was fixed." },
      })
    }
    const own = turn >= (options.ownFrom ?? Number.POSITIVE_INFINITY)
    const source = own ? id : (options.responsesOf ?? id)
    const usage = {
      input_tokens: 10,
      output_tokens: 200,
      cache_creation_input_tokens: isLost ? 20_000 + 1_000 * turn : 1_000,
      cache_read_input_tokens: isLost ? 0 : 20_000 + 1_000 * turn,
    }
    const call = `toolu_${source}_${turn}`
    const last = turn === turns
    const content = last
      ? [{ type: "text", text: options.answers ?? "The parser in src/parser.ts is fixed." }]
      : [{ type: "tool_use", id: call, name: "Read", input: { file_path: `${cwd}/src/parser.ts` } }]
    const stop_reason = last ? "end_turn" : "tool_use"
    add({
      type: "assistant",
      message: { id: `msg_${source}_${turn}`, role: "assistant", model, content, usage, stop_reason },
    })
    if (!last)
      add({
        type: "user",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: call, content: options.result ?? "export const parser = 1" }],
        },
      })
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`
}

export class RecordedHome {
  readonly path = mkdtempSync(join(tmpdir(), "strata-usage-"))

  /** Writes a session where Claude Code would, and returns its path. */
  session(options: SessionOptions): string {
    return this.write(`.claude/projects/-work-app/${options.id}.jsonl`, session(options))
  }

  write(name: string, text: string | Buffer): string {
    const path = join(this.path, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
