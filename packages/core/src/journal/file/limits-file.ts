/**
 * The limits that servers have shown, in one small file under the root, so that the next conversation begins with them. A file that cannot be
 * read counts as empty: a limit is learnt again by one refusal. Each write replaces the file in one step.
 */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type LearntLimit, limitKey } from "../../tokens/learnt-limit.ts"
import { DIRECTORY_MODE, FILE_MODE } from "./layout.ts"

const VERSION = 1
const MOST = 200 // limits: the oldest go first

export interface LimitInHome extends LearntLimit {
  /** When, in ISO 8601. */
  readonly learnt: string
}

export interface LimitsInHome {
  readonly limits: readonly LimitInHome[]
  /** What was learnt before this time no longer counts, also in journals. ISO 8601. */
  readonly forgotten?: string
}

export const limitsFile = (root: string): string => join(root, "limits.json")

export async function readLimits(root: string): Promise<LimitsInHome> {
  try {
    const found = JSON.parse(await readFile(limitsFile(root), "utf8")) as Partial<LimitsInHome & { version: number }>
    if (found.version !== VERSION || !Array.isArray(found.limits)) return { limits: [] }
    const limits = found.limits.filter(isLimit)
    return typeof found.forgotten === "string" ? { limits, forgotten: found.forgotten } : { limits }
  } catch {
    return { limits: [] }
  }
}

export async function keepLimit(root: string, limit: LimitInHome): Promise<void> {
  const { limits, ...rest } = await readLimits(root)
  const others = limits.filter((each) => limitKey(each) !== limitKey(limit))
  await write(root, { ...rest, limits: [...others, limit].slice(-MOST) })
}

/** Forgets one limit, or all of them. Resolves with those that were there. */
export async function forgetLimits(
  root: string,
  which: { readonly at: Date } | Pick<LearntLimit, "model" | "address">,
): Promise<readonly LimitInHome[]> {
  const { limits, ...rest } = await readLimits(root)
  const isMeant = (limit: LimitInHome) => "at" in which || limitKey(limit) === limitKey(which)
  const left = limits.filter((limit) => !isMeant(limit))
  await write(root, { ...rest, limits: left, ...("at" in which ? { forgotten: which.at.toISOString() } : {}) })
  return limits.filter(isMeant)
}

async function write(root: string, content: LimitsInHome): Promise<void> {
  const draft = `${limitsFile(root)}.${randomUUID()}.draft`
  await mkdir(root, { recursive: true, mode: DIRECTORY_MODE })
  try {
    const text = JSON.stringify({ version: VERSION, ...content }, undefined, 2)
    await writeFile(draft, `${text}\n`, { flag: "wx", mode: FILE_MODE })
    await rename(draft, limitsFile(root))
  } finally {
    await rm(draft, { force: true })
  }
}

function isLimit(value: unknown): value is LimitInHome {
  const { model, address, tokens, learnt } = (value ?? {}) as Partial<LimitInHome>
  const areTexts = [model, address, learnt].every((each) => typeof each === "string")
  return areTexts && typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0
}
