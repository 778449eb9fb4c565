/** Descriptions of `strata sync`, `strata move` and `strata store`. Data only. */
import type { CommandDescription } from "../command.ts"

export const SYNC = {
  name: "sync",
  about: "the same memories on your other machines, through a git remote",
  more: [
    `REMOTE is an address or a path that git takes, or the name of a remote of this repository. A private repository of your own is best.
The memories of this project go both ways, with their history: what you forget or erase on one machine does not come back from another.`,
    `They are kept on a branch of their own, strata/memories. Your branches and files are not touched. Each sync replaces the branch's only
commit, so what is erased is gone from it.`,
    "The first time, you are asked whose the remote is, and see what would leave this machine. A memory with a secret in it never leaves.",
  ],
  operands: { value: "REMOTE", min: 1, max: 1 },
  options: {
    sessions: { kind: "flag", about: "conversations too; only with a remote that is yours alone" },
    "with-secrets": { kind: "flag", about: "with --sessions: also those with what looks like a secret" },
    "all-projects": { kind: "flag", about: "all projects, not only this one" },
    "dry-run": { kind: "flag", about: "say what would happen, and change nothing" },
    mine: { kind: "flag", about: "only you can read and write the remote; for scripts" },
    shared: { kind: "flag", about: "others can read the remote too; for scripts" },
    json: { kind: "flag", about: "print what happened as JSON" },
  },
  examples: [
    ["strata sync git@github.com:you/memories.git", "on each machine, now and then"],
    ["strata sync /media/stick/memories.git --dry-run", "look first; a bare repository on a disk works too"],
  ],
} as const satisfies CommandDescription

export const MOVE = {
  name: "move",
  about: "copy conversations and memories to another store, byte for byte",
  more: [
    `FROM and TO are directories, such as ~/.strata, or addresses of PostgreSQL, such as postgres://user@host/database?tenant=acme. It takes
everything: conversations with their blobs and notes, sub-agents, memories with their history, teams, sums.`,
    `The source stays as it is. At the end both sides are read again and compared by SHA-256. Stop it at any time: the same command
goes on where it ended. What is something else on the other side is named and left alone.`,
    "From files to a server, you see first what its other users will be able to read, and are asked.",
  ],
  operands: { value: "FROM TO", min: 2, max: 2 },
  options: {
    project: { kind: "text", value: "NAME", about: "only this project" },
    owner: { kind: "text", value: "NAME", about: "only what this owner has: a person's data, to hand it out" },
    yes: { kind: "flag", about: "share with the users of a server without a question; for scripts" },
    json: { kind: "flag", about: "print the report as JSON" },
  },
  examples: [
    ["strata move ~/.strata postgres://me@db.example/strata", "from files to a server"],
    ["strata move postgres://me@db.example/strata ~/backup", "and back, the same bytes"],
  ],
} as const satisfies CommandDescription

export const STORE = {
  name: "store",
  about: "care for what is kept: tables, retention, erasing",
  more: [
    "Works on the store that STRATA_STORE names, or on the files under STRATA_HOME. migrate and status are for PostgreSQL.",
    "AGE is a number with d, w, m or y, such as 90d. SIZE is a number with KB, MB, GB or TB.",
  ],
  operands: { value: "ACTION", min: 1, max: 1 },
  options: {
    role: { kind: "text", value: "NAME", about: "migrate: the role of applications (default strata_app)" },
    "older-than": { kind: "text", value: "AGE", about: "prune: what was not written to for that long" },
    "larger-than": { kind: "text", value: "SIZE", about: "prune: the oldest conversations above this size in total" },
    "dry-run": { kind: "flag", about: "prune: say what would go, and change nothing" },
    owner: { kind: "text", value: "NAME", about: "erase: everything of this owner" },
    subject: { kind: "text", value: "TEXT", about: "erase: everything in which this text occurs" },
    tenant: { kind: "text", value: "NAME", about: "erase: everything of this tenant" },
    project: { kind: "text", value: "NAME", about: "erase: only in this project" },
    yes: { kind: "flag", about: "erase without a question; for scripts" },
    json: { kind: "flag", about: "print as JSON" },
  },
  sections: [
    {
      title: "Actions",
      rows: [
        ["migrate", "create the tables, or bring them to the version of this program"],
        ["status", "the version of the tables, and what the role of the connection may do"],
        ["prune", "remove what is old, or too much; never what is open"],
        ["erase", "show what would go, ask, then remove it for good, and report"],
      ],
    },
  ],
  examples: [
    ["strata store migrate", "once, with a role that may create a schema"],
    ["strata store prune --older-than 90d --dry-run", "what would go"],
    ["strata store erase --subject jane@example.com", "lists it, and asks"],
  ],
} as const satisfies CommandDescription
