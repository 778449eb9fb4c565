/**
 * The first commit of a repository: equal in all its clones. Only git can find it, so git runs, and nothing else: no program that the
 * repository names, no request, none of your own settings. Git itself refuses a repository of another user.
 */
import { delimiter, isAbsolute, join } from "node:path"
import type { GitRepository } from "./git-repository.ts"
import { factsOf } from "./path-facts.ts"
import { runGit } from "./run-git.ts"

const MOST_MS = 2_000 // a person waits for it
const MOST_OUTPUT_BYTES = 1_000_000
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

type Environment = Readonly<Record<string, string | undefined>>

/** By directory: it stays the same while the process lives. */
const known = new Map<string, Promise<string | undefined>>()

/** Of several, the smallest. `undefined`: there is no commit yet, its clone has not all of them, or git cannot say. */
export function rootCommit({ directory, common }: GitRepository, env: Environment): Promise<string | undefined> {
  if (common === undefined || factsOf(join(common, "shallow")) !== undefined) return Promise.resolve(undefined)
  const { ino, birthtimeMs } = factsOf(common) ?? {} // another repository may take its place
  const key = [directory, ino, birthtimeMs, env.PATH].join("\0")
  const asked = known.get(key) ?? askGit(directory, env)
  known.set(key, asked)
  // the first commit may be made yet
  void asked.then((commit) => commit === undefined && known.delete(key))
  return asked
}

async function askGit(directory: string, env: Environment): Promise<string | undefined> {
  const args = ["-c", "protocol.allow=never", "-c", "core.sshCommand=false", "-c", "core.askPass="]
  try {
    const output = await runGit({
      args: [...args, "rev-list", "--max-parents=0", "HEAD", "--"],
      at: directory,
      env: bareEnvironment(env),
      mostOutputBytes: MOST_OUTPUT_BYTES,
      timeout: MOST_MS,
    })
    const commits = output.toString("latin1").split("\n")
    return commits.filter((line) => COMMIT.test(line)).sort()[0]
  } catch {
    return undefined // the path names the project then
  }
}

/** All that git gets. Directories of PATH that depend on where it runs are left out: a repository could bring a program named git. */
function bareEnvironment(env: Environment): Readonly<Record<string, string>> {
  const path = (env.PATH ?? "").split(delimiter).filter((directory) => isAbsolute(directory))
  return {
    PATH: path.join(delimiter),
    ...(env.SystemRoot === undefined ? {} : { SystemRoot: env.SystemRoot }),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ALLOW_PROTOCOL: "none", // it counts more than what a repository's settings allow
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1", // a replaced commit has another history
    GIT_GRAFT_FILE: "/dev/null",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
  }
}
