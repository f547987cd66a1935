"""Clustering with a kernel matrix, such as the learned one, and label propagation to new items."""

from __future__ import annotations

from .kernel_kmeans import KernelKMeans
from .kernel_mean_shift import KernelMeanShift
from .label_propagation import spread

__all__ = ["KernelKMeans", "KernelMeanShift", "spread"]
