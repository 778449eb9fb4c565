/**
 * The program is a user of the library: it imports `@strata/core`. What it still takes from the inside is listed here, with the reason.
 * The list can only shrink: what no file uses any more must go from it.
 */

export interface InternalUse {
  /** A file of the program, or a folder. */
  readonly where: string
  /** The files of the library that it imports, without `@strata/core/internal/`. */
  readonly files: readonly string[]
  readonly why: string
}

export const INTERNAL_USES: readonly InternalUse[] = [
  {
    where: "display/numbers.ts",
    files: ["base/grouped", "base/numbers", "layers/5-auto-memory/attach/age"],
    why: "numbers and ages read the same in the library's own sentences",
  },
  { where: "display/visible.ts", files: ["base/visible"], why: "the pages show hidden characters in the same way" },
  { where: "display/escaped.ts", files: ["base/escaped-text"], why: "the same in the library's own sentences" },
  {
    where: "display/ledger.ts",
    files: ["views/ledger/ledger"],
    why: "strata run --json prints this shape; the public ledger has fewer figures",
  },
  { where: "display/savings.ts", files: ["views/ledger/savings-report"], why: "the sum of what layers saved" },
  {
    where: "chat/",
    files: [
      ...["agent/permissions/person-command", "base/errors", "base/markdown-file", "base/token-counts"],
      ...[
        "base/vocabulary",
        "journal/file/layout",
        "journal/which-project",
        "layers/3-session-memory/due",
        "layers/6-dreaming/dream",
      ],
      ...["layers/6-dreaming/dreaming-layer", "layers/planner/report", "messages/blocks", "messages/messages"],
      ...["messages/tool-references", "settings/agent-files", "settings/flag-names", "settings/flags"],
      ...["tokens/accounting", "tokens/estimate", "tokens/model-facts", "tokens/repeated-reads"],
      ...["tools/definition/definition", "tools/files/git-ignore", "tools/shell/command/facts"],
      ...["tools/shell/sandbox/sandbox", "tools/tool"],
    ],
    why: "panels about what a conversation does inside, and what a person may type",
  },
  {
    where: "config/",
    files: [
      ...[
        "base/errors",
        "conversation/kept-limits",
        "journal/store-from",
        "journal/which-project",
        "settings/flag-names",
        "settings/flags",
      ],
      ...["settings/project-parts", "views/record/limits"],
      ...["settings/settings", "settings/settings-schema", "tools/shell/sandbox/sandbox"],
    ],
    why: "shows every setting and flag, with its default and its range",
  },
  {
    where: "dashboard/",
    files: ["journal/project-places", "journal/store-from"],
    why: "pages follow a journal in its store",
  },
  {
    where: "doctor/",
    files: ["journal/store-from"],
    why: "asks the store that STRATA_STORE names",
  },
  {
    where: "look/",
    files: ["journal/project-places", "journal/store-from", "journal/stored-name"],
    why: "pages follow a journal in its store",
  },
  { where: "open-browser.ts", files: ["tools/shell/shell-environment"], why: "a browser gets no secrets" },
  {
    where: "demo/",
    files: [
      ...["agent/open-agent", "base/token-counts"],
      ...["model/anthropic/anthropic", "settings/flag-names", "tokens/price", "tools/coding-tools"],
      ...["tools/session/todo-write", "views/ledger/savings-report", "views/record/artifacts"],
    ],
    why: "shows the library at work, with a clock and a model of its own",
  },
  {
    where: "dream/",
    files: [
      ...["agent/permissions/permissions", "base/clock", "base/repository", "conversation/project-dreams"],
      ...["conversation/project-memory", "journal/store-from", "journal/which-project", "layers/6-dreaming/dream"],
      ...["layers/6-dreaming/dreaming", "layers/6-dreaming/dreaming-layer", "model/offline/offline-model"],
      ...["settings/flags", "settings/settings", "settings/trust"],
    ],
    why: "dreams without a conversation, which only this command does",
  },
  {
    where: "sync/",
    files: [
      ...["base/clock", "base/git-remote", "base/git-repository", "base/owner"],
      ...["base/run-git", "base/secrets/find-secrets", "journal/project-places", "journal/store-from"],
      ...["journal/which-project", "layers/6-dreaming/install", "memory/bank"],
      ...["memory/scratch", "memory/sync/decide", "memory/sync/sync-format", "memory/sync/synced-memories"],
      ...["memory/sync/take-in", "tools/shell/shell-environment"],
    ],
    why: "brings two machines together: it joins histories and erases, which no other program should",
  },
  {
    where: "move/",
    files: ["journal/chosen-contents", "memory/changes/hand-edits"],
    why: "what goes to a server that others use is counted first, and a command of an agent must not send it",
  },
  {
    where: "store/",
    files: ["journal/store-from"],
    why: "cares for the store that the environment names, without a conversation",
  },
  {
    where: "trust/",
    files: ["settings/project-parts", "settings/trust", "settings/trust-store"],
    why: "lists and takes back what only this command grants",
  },
  {
    where: "unlock/",
    files: [
      ...["base/owner", "journal/store-from", "journal/file/find-locks", "journal/file/layout"],
      ...["journal/project-places", "journal/which-project"],
    ],
    why: "removes locks, which no other program should",
  },
]

const PROGRAM = "packages/cli/src/"
const INTERNAL = /(?:\bfrom\s*|\bimport\s*\(\s*)"@strata\/core\/internal\/([^"]+)"/g

/** What the program uses of the inside and the list does not have, and what the list has and nothing uses: one sentence each. */
export function internalProblems(
  files: readonly string[],
  read: (file: string) => string,
  uses: readonly InternalUse[] = INTERNAL_USES,
): readonly string[] {
  const found = files
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.startsWith(PROGRAM))
    .flatMap((file) => [...read(file).matchAll(INTERNAL)].map(([, used]) => ({ file, used: used! })))
  const isIn = (file: string, where: string) =>
    where.endsWith("/") ? file.startsWith(PROGRAM + where) : file === PROGRAM + where
  const unlisted = found.filter(
    ({ file, used }) => !uses.some((use) => isIn(file, use.where) && use.files.includes(used)),
  )
  const unused = uses.flatMap(({ where, files: listed }) =>
    listed
      .filter((one) => !found.some(({ file, used }) => isIn(file, where) && used === one))
      .map((one) => `scripts/structure/internal-imports.ts lists ${one} for ${where}, which does not use it any more`),
  )
  return [
    ...unlisted.map(({ file, used }) => `${file} imports ${used} from inside the library: use @strata/core`),
    ...unused,
  ]
}
