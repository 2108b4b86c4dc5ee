#include "tools/railyard/commands.h"

#include <array>
#include <memory>
#include <string>

#include "control/lab/version.h"
#include "tools/railyard/arguments.h"

namespace railyard::tools {

// Each in the file of its name, or in small_commands.cc, up.cc, work.cc, set.cc, attach.cc.
void add_plan(CLI::App* command, int& exit_code);
void add_check(CLI::App* command, int& exit_code);
void add_show(CLI::App* command, int& exit_code);
void add_graph(CLI::App* command, int& exit_code);
void add_hosts(CLI::App* command, int& exit_code);
void add_export(CLI::App* command, int& exit_code);
void add_import(CLI::App* command, int& exit_code);
void add_routes(CLI::App* command, int& exit_code);
void add_path(CLI::App* command, int& exit_code);
void add_topologies(CLI::App* command, int& exit_code);
void add_schema(CLI::App* command, int& exit_code);
void add_run(CLI::App* command, int& exit_code);
void add_sweep(CLI::App* command, int& exit_code);
void add_collperf(CLI::App* command, int& exit_code);
void add_estimate(CLI::App* command, int& exit_code);
void add_scale(CLI::App* command, int& exit_code);
void add_place(CLI::App* command, int& exit_code);
void add_blast(CLI::App* command, int& exit_code);
void add_validate(CLI::App* command, int& exit_code);
void add_bench(CLI::App* command, int& exit_code);
void add_doctor(CLI::App* command, int& exit_code);
void add_tune(CLI::App* command, int& exit_code);
void add_hunt(CLI::App* command, int& exit_code);
void add_compare_transports(CLI::App* command, int& exit_code);
void add_compare(CLI::App* command, int& exit_code);
void add_swarm(CLI::App* command, int& exit_code);
void add_decode(CLI::App* command, int& exit_code);
void add_up(CLI::App* command, int& exit_code);
void add_down(CLI::App* command, int& exit_code);
void add_ls(CLI::App* command, int& exit_code);
void add_status(CLI::App* command, int& exit_code);
void add_top(CLI::App* command, int& exit_code);
void add_logs(CLI::App* command, int& exit_code);
void add_pause(CLI::App* command, int& exit_code);
void add_resume(CLI::App* command, int& exit_code);
void add_exec(CLI::App* command, int& exit_code);
void add_env(CLI::App* command, int& exit_code);
void add_shell(CLI::App* command, int& exit_code);
void add_cp(CLI::App* command, int& exit_code);
void add_restart(CLI::App* command, int& exit_code);
void add_attach(CLI::App* command, int& exit_code);
void add_detach(CLI::App* command, int& exit_code);
void add_agent(CLI::App* command, int& exit_code);
void add_again(CLI::App* command, int& exit_code);
void add_stop(CLI::App* command, int& exit_code);
void add_link(CLI::App* command, int& exit_code);
void add_convert(CLI::App* command, int& exit_code);
void add_matrix(CLI::App* command, int& exit_code);
void add_drain(CLI::App* command, int& exit_code);
void add_undrain(CLI::App* command, int& exit_code);
void add_fault(CLI::App* command, int& exit_code);
void add_set(CLI::App* command, int& exit_code);
void add_get(CLI::App* command, int& exit_code);
void add_replay(CLI::App* command, int& exit_code);
void add_capture(CLI::App* command, int& exit_code);
void add_series(CLI::App* command, int& exit_code);
void add_int(CLI::App* command, int& exit_code);
void add_probes(CLI::App* command, int& exit_code);
void add_report(CLI::App* command, int& exit_code);
void add_port(CLI::App* command, int& exit_code);
void add_docs(CLI::App* command, int& exit_code);
void add_completion(CLI::App* command, int& exit_code);
void add_complete(CLI::App* command, int& exit_code);
void add_man(CLI::App* command, int& exit_code);
void add_help(CLI::App* command, int& exit_code);
void add_version(CLI::App* command, int& exit_code);
void add_web(CLI::App* command, int& exit_code);
void add_relay(CLI::App* command, int& exit_code);
void add_front(CLI::App* command, int& exit_code);

namespace {

constexpr const char* kFiles = "Fabric files";
constexpr const char* kRuns = "Runs in exact virtual time, and results";
constexpr const char* kLive = "Live labs";
constexpr const char* kHosts = "Hosts of a live lab";
constexpr const char* kChange = "Change and observe a live lab";
constexpr const char* kOther = "Other";
constexpr const char* kHidden = "";  // for scripts

constexpr std::array kCommands{
    Command{"plan", kFiles, "Plan a fabric for a number of GPUs: switches, cables, power, with the arithmetic", add_plan},
    Command{"check", kFiles, "Check a fabric file: errors, warnings, headroom, memory", add_check},
    Command{"show", kFiles, "Print the expanded fabric file: presets and defaults resolved", add_show},
    Command{"graph", kFiles, "Draw a fabric file as SVG: nodes, links, rails", add_graph},
    Command{"hosts", kFiles, "Print the addresses of a fabric file in the format of /etc/hosts", add_hosts},
    Command{"export", kFiles, "Print a fabric file for other programs: Graphviz, containerlab, addresses as CSV", add_export},
    Command{"import", kFiles, "Print a switch's configuration (SONiC), or a topology (containerlab, LLDP), as a fabric file", add_import},
    Command{"convert", kFiles, "Convert a trace of a job: GOAL, SimAI, Chakra, NCCL logs to GOAL or CSV", add_convert},
    Command{"matrix", kFiles, "Show who sends how much to whom in collectives and traces: table, CSV, SVG", add_matrix},
    Command{"routes", kFiles, "Print the forwarding tables of switches, and how they have changed", add_routes},
    Command{"path", kFiles, "Print the way of a packet through the switches, and why", add_path},
    Command{"topologies", kFiles, "List the designs that one line brings up, with their parameters", add_topologies},
    Command{"schema", kFiles, "Print the JSON schema of fabric files, for editors", add_schema},

    Command{"run", kRuns, "Run a lab and report the results", add_run},
    Command{"sweep", kRuns, "Run a lab with all combinations of values; print one table", add_sweep},
    Command{"collperf", kRuns, "Run a collective at many sizes; print the table of nccl-tests", add_collperf},
    Command{"estimate", kRuns, "Estimate collectives and jobs without packets: large ones in seconds", add_estimate},
    Command{"scale", kRuns, "Estimate a job with more and more GPUs: strong and weak scaling", add_scale},
    Command{"place", kRuns, "Find the placement of a job's ranks that is quickest", add_place},
    Command{"blast", kRuns, "Let each part of a lab fail in turn; print what each failure costs", add_blast},
    Command{"validate", kRuns, "Go through the acceptance list of a fabric: one answer per line", add_validate},
    Command{"bench", kRuns, "Run the tests of the IETF benchmark draft; report their KPIs", add_bench},
    Command{"doctor", kRuns, "Say what is wrong, from the counters of a report or a run", add_doctor},
    Command{"tune", kRuns, "Search better settings (ECN, PFC, windows) for a workload and a goal", add_tune},
    Command{"hunt", kRuns, "Search the workload and fault that hurt a configuration most", add_hunt},
    Command{"compare-transports", kRuns, "Run a lab with several transports; print them side by side",
            add_compare_transports},
    Command{"compare", kRuns, "Compare two reports: figures and settings that differ", add_compare},
    Command{"swarm", kRuns, "Run random labs with random faults and check all invariants", add_swarm},
    Command{"decode", kRuns, "Print the headers of captured frames, RoCEv2 and Ultra Ethernet in full", add_decode},

    Command{"up", kLive, "Start a live lab", add_up},
    Command{"down", kLive, "Stop a live lab, or clean up after one that was killed", add_down},
    Command{"ls", kLive, "List live labs", add_ls},
    Command{"status", kLive, "Show counters, rates, flows and hosts", add_status},
    Command{"top", kLive, "Watch links, queues, flows, pauses and collectives in the terminal", add_top},
    Command{"web", kLive, "Print a link to the live page of a lab, or open it", add_web},
    Command{"logs", kLive, "Print the log of a lab's daemon", add_logs},
    Command{"pause", kLive, "Stop simulated time: no packets enter or leave", add_pause},
    Command{"resume", kLive, "Continue after a pause", add_resume},

    Command{"exec", kHosts, "Run a command on a host", add_exec, 1},
    Command{"env", kHosts, "Print the environment that RDMA programs need on a host", add_env},
    Command{"shell", kHosts, "Open a shell on a host", add_shell},
    Command{"cp", kHosts, "Copy a file to or from a virtual machine", add_cp},
    Command{"restart", kHosts, "Reboot a virtual machine", add_restart},
    Command{"attach", kHosts, "Attach a namespace, TAP, interface or VM to a NIC", add_attach},
    Command{"detach", kHosts, "Detach it; the NIC becomes a built-in host again", add_detach},
    Command{"agent", kHosts, "Run railyard-agent on a host; its RDMA devices become ranks", add_agent, 1},
    Command{"again", kHosts, "Repeat a collective or flow; start what was stopped", add_again},
    Command{"stop", kHosts, "Stop built-in traffic or a collective", add_stop},

    Command{"link", kChange, "Take a link down or bring it up", add_link},
    Command{"fault", kChange, "Inject faults into links, frames, queues, switches, hosts", add_fault},
    Command{"drain", kChange, "Lead traffic around a switch, for maintenance", add_drain},
    Command{"undrain", kChange, "Let a drained switch take traffic again", add_undrain},
    Command{"set", kChange, "Change thresholds, weights, path policies, rates", add_set},
    Command{"get", kChange, "Print the settable keys and their values", add_get},
    Command{"replay", kChange, "Send the frames of a capture file from a host", add_replay},
    Command{"capture", kChange, "Capture the frames of a port (pcapng)", add_capture},
    Command{"series", kChange, "Write a time series of all queues (CSV)", add_series},
    Command{"int", kChange, "Record in-band telemetry: queueing of sampled packets", add_int},
    Command{"probes", kChange, "Show the probes between all pairs of NICs, and which pairs have become slow", add_probes},
    Command{"report", kChange, "Write a report of the results so far", add_report},

    Command{"port", kOther, "Test which frames two ports of this machine pass", add_port},
    Command{"docs", kOther, "Print where the documentation is", add_docs},
    Command{"completion", kOther, "Print the completion script of a shell", add_completion},
    Command{"complete", kHidden, "Print names for completion scripts", add_complete},
    Command{"front", kHidden, "Stand in front of the sites of a lab", add_front},
    Command{"relay", kHidden, "Answer the front of a lab over several sites", add_relay},
    Command{"man", kHidden, "Write the man pages to a directory", add_man},
    Command{"help", kOther, "Print the help of a command", add_help},
    Command{"version", kOther, "Print the version", add_version},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::unique_ptr<CLI::App> make_app(int& exit_code) {
  auto app = std::make_unique<CLI::App>(
      "Railyard emulates the Ethernet fabric of an AI cluster: lossless leaf-spine networks with queues, ECN and "
      "PFC, in exact virtual time or live.",
      "railyard");
  app->require_subcommand(1);
  app->set_version_flag("--version", "railyard " + lab::version(), "Print the version and exit");
  for (const Command& c : commands()) {
    CLI::App* command = app->add_subcommand(c.name, c.summary)->group(c.group);
    c.add(command, exit_code);
    command->footer(command->get_footer() + (command->get_footer().empty() ? "" : "\n\n") + "Exit codes: " +
                    exit_code_summary() + " (`railyard --help` explains them)");
  }
  take_one_value_each(*app);
  name_checked_values(*app);
  // Last, as commands inherit the footer that is there when they are added.
  app->footer(
      "Examples:\n"
      "  railyard check topologies/incast-8to1.yaml      check a lab: window, headroom, memory\n"
      "  railyard run topologies/incast-8to1.yaml        run it and report the results\n"
      "  railyard run LAB.yaml --set run.duration=5ms --seed 7 --json\n"
      "  railyard up LAB.yaml                            start a live lab; then status, exec, link, down\n"
      "\n"
      "Exit codes of every command:\n" +
      exit_code_lines() +
      "\n"
      "`railyard help COMMAND` explains a command.");
  return app;
}

}  // namespace railyard::tools
