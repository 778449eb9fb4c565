/** Descriptions of `strata sync`, `strata move` and `strata store`. Data only. */
import type { CommandDescription } from "../command.ts"

export const SYNC = {
  name: "sync",
  about: "sync memories between your machines through a git remote",
  more: [
    `REMOTE is a URL or a path for git, or the name of a remote of this repository. Use a private repository of your own.
Memories of this project are synchronised in both directions, with their history: what you forget or erase on one machine does not
come back from another.`,
    `They are stored on a separate branch, strata/memories. Your branches and files are not touched. Each sync replaces the branch's only
commit, so erased data does not remain in it.`,
    "The first time, you are asked who can access the remote, and see what would leave this machine. A memory with a secret in it never leaves.",
  ],
  operands: { value: "REMOTE", min: 1, max: 1 },
  options: {
    sessions: { kind: "flag", about: "also sync conversations; only with a private remote" },
    "with-secrets": { kind: "flag", about: "with --sessions: include those with possible secrets" },
    "all-projects": { kind: "flag", about: "all projects, not only this one" },
    "dry-run": { kind: "flag", about: "show what would happen, and change nothing" },
    mine: { kind: "flag", about: "only you can read and write the remote; for scripts" },
    shared: { kind: "flag", about: "others can read the remote too; for scripts" },
    json: { kind: "flag", about: "print what happened as JSON" },
  },
  examples: [
    ["strata sync git@github.com:you/memories.git", "on each machine, now and then"],
    ["strata sync /media/stick/memories.git --dry-run", "preview; a bare repository on a disk works too"],
  ],
} as const satisfies CommandDescription

export const MOVE = {
  name: "move",
  about: "copy conversations and memories to another store",
  more: [
    `FROM and TO are directories, such as ~/.strata, or addresses of PostgreSQL, such as postgres://user@host/database?tenant=acme. It copies
everything: conversations with their blobs and notes, sub-agents, memories with their history, teams, totals.`,
    `The source is not changed. At the end both sides are read again and compared by SHA-256. You can stop it at any time: the same
command resumes. Items that differ on the other side are listed and not changed.`,
    "From files to a server, you first see what its other users will be able to read, and are asked.",
  ],
  operands: { value: "FROM TO", min: 2, max: 2 },
  options: {
    project: { kind: "text", value: "NAME", about: "only this project" },
    owner: { kind: "text", value: "NAME", about: "only this owner's data, for example for a data export" },
    yes: { kind: "flag", about: "share with the users of a server without a question; for scripts" },
    json: { kind: "flag", about: "print the report as JSON" },
  },
  examples: [
    ["strata move ~/.strata postgres://me@db.example/strata", "from files to a server"],
    ["strata move postgres://me@db.example/strata ~/backup", "and back, byte for byte"],
  ],
} as const satisfies CommandDescription

export const STORE = {
  name: "store",
  about: "maintain the store: migrations, retention, erasure",
  more: [
    "Works on the store that STRATA_STORE names, or on the files under STRATA_HOME. migrate and status are for PostgreSQL.",
    "AGE is a number with d, w, m or y, such as 90d. SIZE is a number with KB, MB, GB or TB.",
  ],
  operands: { value: "ACTION", min: 1, max: 1 },
  options: {
    role: { kind: "text", value: "NAME", about: "migrate: the role of applications (default strata_app)" },
    "older-than": { kind: "text", value: "AGE", about: "prune: conversations that have not changed for that long" },
    "larger-than": { kind: "text", value: "SIZE", about: "prune: the oldest conversations above this total size" },
    "dry-run": { kind: "flag", about: "prune: show what would be removed, and change nothing" },
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
        ["migrate", "create the tables, or migrate them to this version"],
        ["status", "the version of the tables, and the rights of the current role"],
        ["prune", "remove old data, or data above a size; never open conversations"],
        ["erase", "show what would be erased, ask, erase it for good, and report"],
      ],
    },
  ],
  examples: [
    ["strata store migrate", "once, with a role that may create a schema"],
    ["strata store prune --older-than 90d --dry-run", "what would be removed"],
    ["strata store erase --subject jane@example.com", "lists the data, and asks"],
  ],
} as const satisfies CommandDescription
