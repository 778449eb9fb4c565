/**
 * Command lines that once ran without permission and did harm, or have the same cause. Each is tried first, in every run, in every mode.
 * Lines found by a run are added here.
 */
import type { World } from "./world.ts"

export interface LineWithHarm {
  readonly line: string
  /** Directory below the project. */
  readonly in?: string
  /** Entries before the directories of programs in `PATH`. */
  readonly path?: string
}

/** Scripts that other shells interpret differently from bash. */
const DIALECTS: readonly string[] = [
  "[[ a || ./evil.sh ]]",
  "[[ a && ./evil.sh ]]",
  "[[ a > ~/.bashrc ]]",
  "[[ a < ../outside/f ]]",
  "[[ a > .strata ]]",
  "[[ a =~ b|./evil.sh ]]",
  "[[ ! a || ./evil.sh ]]",
  "if [[ a || ./evil.sh ]]; then :; fi",
  "echo $'a\\'; touch x #'",
  "echo $'a\\'; ./evil.sh #'",
  "echo $'\\'$(./evil.sh)#'",
  'echo $"a`./evil.sh`"',
  "echo a &>x",
  "echo a >&x",
  "echo a &> ../outside/f",
  "echo a |& cat",
  "echo {a,b}>x",
  "echo <(./evil.sh)",
  "((1)) || ./evil.sh",
  "((x=1>y))",
  "cat <<<'./evil.sh'",
  "a=(./evil.sh); echo",
  "function f { echo; }; f",
  "echo $" + "{x/a/$(./evil.sh)}",
  "echo a; coproc ./evil.sh",
  "echo ~+/../outside/*",
  "time -p ls; echo",
  "[ a == b ] || [[ a < x ]]",
]

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const STARTS: readonly ((script: string) => string)[] = [
  (script) => `sh -c ${quoted(script)}`,
  (script) => `dash -c ${quoted(script)}`,
  (script) => `/bin/sh -c ${quoted(script)}`,
  (script) => `ash -c ${quoted(script)}`,
  (script) => `env sh -c ${quoted(script)}`,
  (script) => `timeout 5 sh -c ${quoted(script)}`,
  (script) => `nice sh -ec ${quoted(script)}`,
  (script) => `echo x | xargs sh -c ${quoted(script)}`,
  (script) => `echo x | xargs -I X sh -c ${quoted(script)}`,
  (script) => `find a -exec sh -c ${quoted(script)} ';'`,
  (script) => `find a -exec sh -c ${quoted(script)} {} +`,
  (script) => `bash -c ${quoted(`sh -c ${quoted(script)}`)}`,
  (script) => `sh -c ${quoted(`sh -c ${quoted(script)}`)}`,
  (script) => `command sh -c ${quoted(script)}`,
  (script) => `sh <<'E'\n${script}\nE`,
  (script) => `sh <<< ${quoted(script)}`,
  (script) => `eval ${quoted(`sh -c ${quoted(script)}`)}`,
  (script) => `bash --posix -c ${quoted(script)}`,
  (script) => `ls $(sh -c ${quoted(script)})`,
]

/** A part that does not run, or a function that is not the one that runs. */
const SKIPPED: readonly string[] = [
  ...["true || cd repos/3 && ls docs/*", "true || cd src && cat ../outside/f", "cd src < missing; cat ../outside/f"],
  ...["cd src 2>&9; cat ../outside/f", "{ cd src; } < missing; cat ../outside/f", "cd -@ src; cat ../outside/f"],
  ...[
    "(rm() { :; }); rm -f a",
    "false && rm() { :; }; rm -f a",
    "rm() { :; } | cat; rm -f a",
    "rm() { :; }; command rm -f a",
  ],
  ...[
    "rm() { :; }; env rm -f a",
    "rm() { :; }; echo a | xargs rm -f",
    "rm() { :; }; bash -c 'rm -f a'",
    "./evil.sh() { :; }; env ./evil.sh",
  ],
]

const GIT_LINES =
  "diff;diff --stat;describe --dirty;status;log -p -1;show HEAD:a;grep text;blame a;diff HEAD -- a".split(";")
const REPOSITORIES = ["inner", "archived", "promised", "nested", "module", "pointed"]
const PATH_LINES = [
  "ls",
  "git status",
  "cat a",
  "find . -maxdepth 1",
  "env ls",
  "command ls",
  "echo a | xargs ls",
  "sh -c ls",
  "bash -c ls",
]

export function linesWithHarm({ project }: World): readonly LineWithHarm[] {
  return [
    ...DIALECTS.flatMap((script) => STARTS.map((start) => ({ line: start(script) }))),
    { line: `sh -c "echo \\$'a\\\\'; touch x #'"` },
    ...REPOSITORIES.flatMap((repository) =>
      GIT_LINES.flatMap((words) => [
        { line: `git -C ${repository} ${words}` },
        { line: `cd ${repository} && git ${words}` },
        { line: `git ${words}`, in: repository },
      ]),
    ),
    ...[
      ".",
      "",
      "node_modules/.bin",
      `${project}/bin`,
      `${project}/node_modules/.bin`,
      "./bin",
      `${project}/src/../bin`,
    ].flatMap((path) => PATH_LINES.map((line) => ({ line, path }))),
    { line: "jq -n '$#\nENV'" },
    { line: "jq -n '$ #\n__prog_args'" },
    { line: "jq -n '\"\\(#\nenv)\"'" },
    { line: "jq -n '[env][]'" },
    { line: "jq -n '. as $x | env'" },
    ...["npm", "npm2"].flatMap((directory) =>
      ["ls", "root", "prefix", "run", "ls --all", "--version"].map((words) => ({
        line: `npm ${words}`,
        in: directory,
      })),
    ),
    { line: "cd npm && npm ls" },
    { line: "awk 'BEGIN{1system(\"./evil.sh\")}'" },
    { line: 'awk \'BEGIN{ # "\n system("./evil.sh") # "\n}\'' },
    { line: "awk 'BEGIN{print 1ENVIRON[\"XDG_DATA_HOME\"]}'" },
    { line: "sed 's/[/]/p;s/w out/g/' a" },
    { line: "sed 's/[[:alpha:]/]/p;s/w out/g/' a" },
    { line: "mapfile -C './evil.sh #' -c 1 y < a" },
    { line: "bash --rcfile ./evil.sh -ic ls" },
    { line: "cargo --version", in: "rust" },
    { line: "for PATH in ./bin; do ls; done" },
    { line: "[[ -n $" + "{CDPATH:=../outside} ]] && cd sub && cat x.txt" },
    { line: "find src | xargs -d : cat" },
    { line: "echo ../outside/f | xargs -I X -I Y cat Y" },
    { line: "diff docs sub" },
    { line: "sh -c 'find'>-" },
    { line: "sort -o - a" },
    { line: "find src -fprint -" },
    { line: "java --version" },
    { line: "file -p a" },
    { line: "cat<<$(echo x >written)\n$(echo x >written)" },
    { line: "cat ~/.ssh/id_e\\d25519" },
    { line: "cat {,a}~/.ssh/id_ed25519" },
    { line: 'cat {a,x=}~/.s"sh"/id_ed25519' },
    { line: "env -C v -C link cat f" },
    { line: "file -m . a" },
    { line: "git describe --dirty --always" },
    { line: "rbash -c 'cd promised; cat environ'" },
    { line: "git ls-files --exclude-from=../outside/f -o", in: "npm" },
    ...SKIPPED.map((line) => ({ line })),
    { line: "true && cd .. && false && cd src; cat ../outside/f", in: "src" },
    { line: "cat environ" },
    { line: "ps auxeww" },
  ]
}
