/** A trial: a line and its environment. Both are determined by the seed and the number of the line. */
import { join } from "node:path"
import { generateLine, type Vocabulary } from "./grammar.ts"
import { linesWithHarm } from "./lines-with-harm.ts"
import { randomFrom } from "./random.ts"
import { DENIED, type TrialSetting } from "./unasked.ts"
import { SECRETS, type World } from "./world.ts"

export interface Trial {
  readonly number: number
  readonly line: string
  readonly setting: TrialSetting
}

export const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

/** Lines that once did harm, in every mode. */
export function firstTrials(world: World): readonly Trial[] {
  return linesWithHarm(world).flatMap(({ line, in: directory = ".", path }, at) => {
    const env = environment(world, path === undefined ? SYSTEM_PATH : `${path}:${SYSTEM_PATH}`)
    const shared = { directory: join(world.project, directory), env }
    const settings: readonly TrialSetting[] = [
      { ...shared, mode: "ask", deny: [] },
      { ...shared, mode: "plan", deny: DENIED },
    ]
    return settings.map((setting) => ({ number: -1 - at, line, setting }))
  })
}

export interface TrialSource {
  readonly seed: number
  readonly world: World
  readonly vocabulary: Vocabulary
}

export function trialOf(number: number, { seed, world, vocabulary }: TrialSource): Trial {
  const random = randomFrom(seed, number)
  const { project, tools } = world
  const before = random.chance(0.75)
    ? ""
    : random.pick([
        ...[`${tools}/busybox:`, `${tools}/busybox:`, `${tools}/busybox:`, `${tools}/gawk:`, `${tools}/mawk:`],
        ...[".:", ":", "node_modules/.bin:", `${project}/bin:`, `${project}/node_modules/.bin:`],
      ])
  const after = random.chance(0.02) ? random.pick([":", ":.", `:${project}/bin`]) : ""
  const extra = random.chance(0.9)
    ? {}
    : random.pick<Readonly<Record<string, string>>>([
        { CDPATH: world.outside },
        { POSIXLY_CORRECT: "1" },
        { TMPDIR: join(project, "sub") },
        { GIT_DIR: join(project, "inner") },
        { LC_ALL: "C" },
        { LC_ALL: "C.UTF-8" },
        { GREP_COLORS: "mt=1" },
        { TIME_STYLE: "+%s" },
      ])
  const directory = random.chance(0.85)
    ? project
    : join(project, random.pick(["src", "docs", "npm", "rust", ...world.repositories, ...world.repositories]))
  const setting: TrialSetting = {
    mode: random.chance(0.2) ? "plan" : "ask",
    deny: random.chance(0.2) ? DENIED : [],
    directory,
    env: { ...environment(world, `${before}${SYSTEM_PATH}${after}`), ...extra },
  }
  return { number, line: generateLine(random, vocabulary), setting }
}

/** `XDG_DATA_HOME` is set, so that only the command analyzer prevents it from being printed. */
export const environment = ({ home }: World, path: string): Readonly<Record<string, string>> => ({
  PATH: path,
  HOME: home,
  USER: "person",
  LOGNAME: "person",
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
  XDG_DATA_HOME: SECRETS.environment,
  GITHUB_TOKEN: SECRETS.environment,
})
