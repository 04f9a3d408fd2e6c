"""The simulator: fast tests and what-if runs of a compiled workflow, in memory."""

from signet.core.simulation.run import Simulation, simulate, simulate_artifact
from signet.core.simulation.script_check import find_script_mistakes
from signet.core.simulation.world import (
    SimulatedAccount,
    SimulatedRequest,
    SimulatedStep,
    SimulationRest,
    WorldScript,
)

__all__ = [
    "SimulatedAccount",
    "SimulatedRequest",
    "SimulatedStep",
    "Simulation",
    "SimulationRest",
    "WorldScript",
    "find_script_mistakes",
    "simulate",
    "simulate_artifact",
]
