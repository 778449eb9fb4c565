/** A project on the real disk with a memory to consolidate, and dreams whose changes a test decides. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { manualClock } from "../src/base/clock.ts"
import { fileStore } from "../src/journal/file/file-store.ts"
import { CONSOLIDATE } from "../src/journal/permit.ts"
import type { Consolidate, ConsolidationTask } from "../src/layers/6-dreaming/consolidate/consolidate.ts"
import { DreamController, type DreamFigures, type DreamingOptions } from "../src/layers/6-dreaming/dreaming.ts"
import { pastConversations } from "../src/layers/6-dreaming/transcripts.ts"
import { openBank } from "../src/memory/bank.ts"

export const FIGURES: DreamFigures = {
  ...{ isOn: true, gapHours: 24, rescanMinutes: 10, conversations: 5 },
  ...{ maxTurns: 30, dailyLimit: 2 },
}
export const START = "2026-05-01T12:00:00.000Z"

/** Frontmatter of a memory file. Keys without a value are omitted. */
export function memoryText(name: string, body: string, keys: Readonly<Record<string, unknown>> = {}): string {
  const lines = Object.entries({ name, description: `About ${name}`, type: "project", ...keys }).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  )
  return `---\n${lines.join("\n")}\n---\n\n${body}\n`
}

/** Unrelated memories. With them, one of two further memories is less than a quarter. */
export const OTHERS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    tide: "Ferries leave Bergen at noon.",
    oven: "Marta bakes rye bread.",
    owl: "Owls hoot near Lund.",
  }).map(([name, body]) => [`${name}.md`, memoryText(name, body, { confirmed: "2026-01-01" })]),
)

/** Changes files of the dream's copy; `undefined` empties one. */
export const changeFiles =
  (edit: (task: ConsolidationTask) => Readonly<Record<string, string | undefined>>, why = "Merged."): Consolidate =>
  async (task) => {
    for (const [file, text] of Object.entries(edit(task))) {
      await mkdir(dirname(join(task.directory, file)), { recursive: true })
      await writeFile(join(task.directory, file), text ?? "")
      task.onWrite(file)
    }
    task.onTurn({ text: why, calls: [] })
    return { ended: "done", why, responses: [] }
  }

export function dreamProject(root: string, options: Partial<DreamingOptions> = {}) {
  const clock = manualClock(START)
  const project = join(root, "code")
  mkdirSync(project, { recursive: true })
  const store = fileStore({ root: join(root, "home"), clock })
  const files = options.files ?? store.memories({ project: "code" })
  const stateFiles = store.memories({ project: "code", collection: "dreams" })
  const permit = store.permit({ project: "code", name: CONSOLIDATE })
  const past = pastConversations(store, async () => ["code"])
  const directory = files.directory!
  mkdirSync(directory, { recursive: true })
  const bank = openBank({ files, clock })
  const dreaming = (consolidate: Consolidate, more: Partial<DreamingOptions> = {}) =>
    new DreamController({ bank, files, stateFiles, permit, past, project, clock, consolidate, ...options, ...more })
  return {
    ...{ clock, project, files, directory, bank, dreaming },
    write(texts: Readonly<Record<string, string>>) {
      for (const [file, text] of Object.entries(texts)) {
        mkdirSync(dirname(join(directory, file)), { recursive: true })
        writeFileSync(join(directory, file), text)
      }
    },
    remove: (file: string) => rmSync(join(directory, file)),
    read: (file: string) => readFileSync(join(directory, file), "utf8"),
    /** All files of the memory: topics, index, archive, history. */
    everything: () => filesBelow(directory),
  }
}

/** Texts by relative path. */
export function filesBelow(directory: string): ReadonlyMap<string, string> {
  const names = readdirSync(directory, { recursive: true }).map(String).sort()
  return new Map(
    names.flatMap((name) => {
      const path = join(directory, name)
      return statSync(path).isFile() ? [[relative(directory, path), readFileSync(path, "utf8")] as const] : []
    }),
  )
}

/** Memories and the index, without history, archive and locks. */
export const memoriesIn = (all: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...all].filter(([path]) => path.endsWith(".md") && !path.startsWith(".") && !path.startsWith("archive/")))
