"""The simulator: fast tests and what-if runs of a compiled workflow, in memory."""

from signet.core.simulation.run import Simulation, simulate
from signet.core.simulation.world import Script, SimulatedRequest, SimulatedStep, SimulationRest

__all__ = ["Script", "SimulatedRequest", "SimulatedStep", "Simulation", "SimulationRest", "simulate"]
