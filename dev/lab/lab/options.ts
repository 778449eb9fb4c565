/** Options of `npm run lab`. A wrong name or folder is rejected before the work, which takes minutes. */
import { accessSync, constants, existsSync } from "node:fs"
import { dirname } from "node:path"
import { HELD_OUT_RECORDINGS, SHORT_RECORDINGS, TUNING_RECORDINGS } from "../recordings.ts"
import { folderAt, LabUsageError, readCall } from "../usage.ts"
import { LAB_POLICIES } from "./variants.ts"

export interface RequestedSet {
  /** Folder with recordings. `undefined` for generated work. */
  readonly folder: string | undefined
  readonly policies: readonly string[]
}

export interface LabOptions {
  readonly sets: readonly RequestedSet[]
  /** Maximum number of recordings in each set. */
  readonly max?: number
  readonly json?: string
  /** File with results of an earlier run, used instead of a new run. */
  readonly from?: string
  /** File for the picture of cost and compactions. */
  readonly svg?: string
  /** Whether the run is the one that the documents report: every policy on every recording next to the repository. */
  readonly isDocumented: boolean
}

const OPTIONS = {
  short: { type: "boolean" },
  generated: { type: "boolean" },
  json: { type: "string" },
  from: { type: "string" },
  svg: { type: "string" },
  policies: { type: "string" },
} as const
const USAGE =
  "npm run lab -- [--short] [--generated] [--json FILE] [--from FILE] [--svg FILE] [--policies A,B] [FOLDER …]"
const SHORT = 4 // recordings of each set
/** Rules were chosen on the first two sets, so the policies that rules are judged by are enough there. */
const DOCUMENTED = [TUNING_RECORDINGS, SHORT_RECORDINGS, HELD_OUT_RECORDINGS]
const JUDGED = ["none", "clear-3", "claude-style", "fixed-167k", "strata", "strata-not-warmed"]
const NAMES = LAB_POLICIES.map(({ name }) => name)

export function parseLabOptions(args: readonly string[]): LabOptions {
  const { values, positionals } = readCall(args, { options: OPTIONS, usage: USAGE })
  const policies = values.policies === undefined ? NAMES : namesIn(values.policies)
  const named = positionals.map(folderAt)
  const nextToRepository = DOCUMENTED.filter((folder) => existsSync(folder))
  const isGenerated = values.generated || (named.length === 0 && nextToRepository.length === 0)
  const folders = isGenerated ? [undefined] : named.length > 0 ? named : nextToRepository
  for (const file of [values.json, values.svg]) if (file !== undefined) checkTarget(file)
  const isTuned = (folder: string | undefined) =>
    named.length === 0 && values.policies === undefined && DOCUMENTED.slice(0, -1).some((each) => each === folder)
  return {
    sets: folders.map((folder) => ({ folder, policies: isTuned(folder) ? JUDGED : policies })),
    ...(values.from === undefined ? {} : { from: values.from }),
    ...(values.svg === undefined ? {} : { svg: values.svg }),
    ...(values.short ? { max: SHORT } : {}),
    ...(values.json === undefined ? {} : { json: values.json }),
    isDocumented:
      !isGenerated &&
      !values.short &&
      values.policies === undefined &&
      named.length === 0 &&
      nextToRepository.length === DOCUMENTED.length,
  }
}

function namesIn(list: string): readonly string[] {
  const names = list.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]))
  const unknown = names.find((name) => !NAMES.includes(name))
  if (unknown !== undefined)
    throw new LabUsageError(`There is no policy "${unknown}". The policies are ${NAMES.join(", ")}.`)
  if (names.length === 0)
    throw new LabUsageError("--policies needs at least one name, such as --policies strata,clear-3.")
  return names
}

function checkTarget(file: string): void {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK)
  } catch (error) {
    throw new LabUsageError(`${file} cannot be written. Choose another file after --json.`, { cause: error })
  }
}
