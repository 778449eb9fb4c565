/** Two machines for `strata sync`: homes, clones and bare repositories on a disk. */
import { execFileSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import { projectAt } from "../../core/src/base/project.ts"
import { fileStore } from "../../core/src/journal/file/file-store.ts"
import { strataHere } from "./strata-here.ts"
import { emptyPlace } from "./strata-process.ts"

export async function machines() {
  const place = emptyPlace()
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: place.cwd, encoding: "utf8", stdio: "pipe" }).trim()
  for (const name of ["box.git", "origin.git"]) git("init", "-q", "--bare", join(place.cwd, name))
  const [box, origin] = [join(place.cwd, "box.git"), join(place.cwd, "origin.git")]
  const { name } = await projectAt({ cwd: place.cwd, env: {}, project: "shop" })
  const machine = (letter: string, more: Readonly<Record<string, string>> = {}) => {
    const cwd = join(place.cwd, letter)
    git("clone", "-q", origin, cwd)
    const env = { ...place.env, STRATA_HOME: join(place.cwd, `home-${letter}`), STRATA_PROJECT: "shop", ...more }
    const directory = join(env.STRATA_HOME, "projects", name, "memory")
    mkdirSync(directory, { recursive: true })
    const strata = (...args: string[]) => strataHere(args, { cwd, env })
    return {
      ...{ cwd, env, directory, strata, project: name },
      write: (file: string, text: string) => writeFileSync(join(directory, file), text),
      read: (file: string) => readFileSync(join(directory, file), "utf8"),
      names: () => readdirSync(directory).filter((file) => file.endsWith(".md") && file !== "MEMORY.md"),
      sync: async (...args: string[]) => {
        const ended = await strata("sync", box, ...args)
        expect(ended).toMatchObject({ code: 0, stderr: "" })
        return ended.stdout
      },
    }
  }
  return { box, origin, git, place, machine, a: machine("a"), b: machine("b") }
}

export type Machine = Awaited<ReturnType<typeof machines>>["a"]

/** Writes messages into a journal of a machine, and leaves it open if asked to. */
export async function say(at: Machine, address: { id: string; under?: string }, ...texts: string[]) {
  const journal = await fileStore({ root: at.env.STRATA_HOME }).open(
    { project: at.project, ...address },
    { access: "write", create: true },
  )
  const entries = texts.map((content) => ({
    ...{ uuid: randomUUID(), parentUuid: null, timestamp: "2026-11-17T20:00:00.000Z" },
    ...{ type: "user" as const, message: { role: "user" as const, content } },
  }))
  await journal.append(entries)
  return journal
}

export const bytes = (at: Machine, ...path: string[]) =>
  readFileSync(join(at.env.STRATA_HOME, "projects", at.project, ...path))
export const file = (at: Machine, ...path: string[]) => bytes(at, ...path).toString("utf8")
