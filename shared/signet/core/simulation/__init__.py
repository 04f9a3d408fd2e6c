"""The simulator: fast tests and what-if runs of a compiled workflow, without a database."""

from signet.core.simulation.run import Simulation, simulate
from signet.core.simulation.world import Asked, Script, SimulatedStep, Waiting

__all__ = ["Asked", "Script", "SimulatedStep", "Simulation", "Waiting", "simulate"]
